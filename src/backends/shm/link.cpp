// SPDX-License-Identifier: BSD-3-Clause
// link.cpp - everything about a link that is not its rings' hot path.
#include "backends/shm/link.h"

#include <fmt/format.h>

#include <exception>
#include <new>

#include "sync/asymmetric.h"

namespace heddle::transport::shm {

link::link(std::shared_ptr<peer_process> to, int number)
    : remote_lane(to->number(), number),
      process(std::move(to)),
      there(&process->memory().lanes[static_cast<std::size_t>(number)]),
      how(process->how()) {}

void link::meet(std::shared_ptr<peer_process> opened) noexcept {
  process = std::move(opened);
  there = &process->memory().lanes[static_cast<std::size_t>(lane)];
  how = process->how();
  state = state_t::open;
}

void link::open_outgoing(const ring_name& name, std::size_t bytes) {
  if (!out_file_.fd) out_file_ = create_ring(name, bytes);
  sync::ring_producer producer(out_file_.place);
  if (!there->rings.append(packed({name.from, name.from_lane, out_file_.fd.get()})))
    throw error(fmt::format("its lane {} takes rings of {} senders at most", lane, most_senders));
  out.emplace(std::move(producer));
  announce_to_device();
  wake();
}

void link::announce_to_device() noexcept {
  sync::heavy_barrier();  // the lane's maker sets its bell, then looks at the board
  if (there->bell.get() >= 0) return;
  process->memory().unserved.set(true);
  try {
    const owned_fd bell = process->open_file(process->memory().bell.get(), file_kind::pipe);
    ring_bell(bell.get());
  } catch (const std::exception&) {
    // Either the peer is gone, which its process tells, or it will look at the board by itself.
  }
}

void link::open_incoming(int fd, const ring_name& name) {
  in_file_ = open_ring(process->open_file(fd, file_kind::memory), name);
  in.emplace(in_file_.place);
  in->control().attached.set(1);
}

void link::note(const char* why) noexcept {
  try {
    why_ = why;
  } catch (const std::bad_alloc&) {
    why_ = "no memory";  // short enough to need none
  }
}

void link::ring() noexcept {
  owes_ring_ = true;
  static_cast<void>(ring_owed());
}

bool link::ring_owed() noexcept {
  if (!owes_ring_) return true;
  try {
    if (!bell_) bell_ = process->open_file(there->bell.get(), file_kind::pipe);
    ring_bell(bell_.get());
    owes_ring_ = false;
  } catch (const shortage&) {
    return false;
  } catch (const std::exception&) {
    owes_ring_ = false;  // the lane or its process is gone: nobody sleeps there
  }
  return true;
}

void link::trim() noexcept {
  if (out && out_file_.fd && out->control().attached.get() != 0) out_file_.fd = owned_fd();
}

bool link::settled() const noexcept {
  return state != state_t::open || !out || out->control().attached.get() != 0;
}

std::string_view link::why() noexcept {
  if (why_.empty() && corrupt)
    why_ = "what it wrote into shared memory makes no sense";
  else if (why_.empty())
    why_ = process->describe_end();
  return why_;
}

void link::close_rings() noexcept {
  out.reset();
  in.reset();
  out_file_ = {};
  in_file_ = {};
}

}  // namespace heddle::transport::shm
