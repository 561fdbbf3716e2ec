// SPDX-License-Identifier: BSD-3-Clause
// context.cpp - see context.h.
#include "context.h"

#include <limits>
#include <new>

#include "host/words.h"

namespace hca {

context::context(process& us, ibv_device& device, unsigned number)
    : us_(us), number_(number), counters_(us.count(number)) {
  if (!async_) throw std::bad_alloc();
  if (!us.fabric().add_context(at(1), async_.address())) throw std::bad_alloc();
  handle_.object = this;
  ibv_context& c = handle_.verbs.context;
  c.device = &device;
  c.cmd_fd = -1;
  c.async_fd = async_.fd();
  c.num_comp_vectors = 4;
  pthread_mutex_init(&c.mutex, nullptr);
  c.abi_compat = __VERBS_ABI_IS_EXTENDED;
  handle_.verbs.sz = sizeof(verbs_context);
  set_device_operations(handle_.verbs);
  set_domain_operations(handle_.verbs);
  set_cq_operations(handle_.verbs);
  set_queue_operations(handle_.verbs);
}

context::~context() {
  if (us_.set().choice<telling>(knob::tell) == telling::counts)
    host::say("%s: %lu doorbells, %lu work requests, %lu signalled completions, %lu inline bytes",
              handle_.verbs.context.device->name, counters_[counter::doorbells],
              counters_[counter::work_requests], counters_[counter::signalled],
              counters_[counter::inline_bytes]);
  us_.fabric().remove_context(async_.address());
}

unsigned context::ports() const noexcept {
  return static_cast<unsigned>(us_.set()[knob::ports]);
}

place context::at(unsigned port) const noexcept {
  return {static_cast<std::uint8_t>(us_.set()[knob::node]), static_cast<std::uint8_t>(number_),
          static_cast<std::uint8_t>(port)};
}

}  // namespace hca
