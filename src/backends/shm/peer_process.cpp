// SPDX-License-Identifier: BSD-3-Clause
// peer_process.cpp - opening and verifying a peer's segment.
#include "backends/shm/peer_process.h"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace heddle::transport::shm {

namespace {

/// 0 where /proc does not tell.
std::uint32_t namespace_number(const char* path) {
  struct stat found {};
  return stat(path, &found) == 0 ? static_cast<std::uint32_t>(found.st_ino) : 0;
}

}  // namespace

credentials own_credentials() {
  return {namespace_number("/proc/self/ns/pid"), namespace_number("/proc/self/ns/user"), geteuid(),
          getegid(), static_cast<std::uint32_t>(prctl(PR_GET_DUMPABLE))};
}

address_blob read_address(rank number, std::span<const std::byte> bytes, const credentials& ours) {
  address_blob said;
  if (bytes.size() != sizeof said) {
    throw error(fmt::format("its address has {} bytes instead of {}", bytes.size(), sizeof said));
  }
  std::memcpy(&said, bytes.data(), sizeof said);
  if (said.magic != segment_magic || said.bytes != sizeof(segment)) {
    throw error("it runs another version of Heddle");
  }
  if (said.rank != number) {
    throw error(fmt::format("its address is that of rank {}", said.rank));
  }
  if (said.pid <= 0) throw error("its address names no process");
  const std::uint32_t here = ours.pid_namespace, there = said.owner.pid_namespace;
  if (here != 0 && there != 0 && here != there) {
    throw error(fmt::format("its process {} is in another pid namespace", said.pid));
  }
  return said;
}

peer_process::peer_process(const peer_address& where, bool we_can_fence)
    : number_(where.number), pid_(where.pid) {
  if (pid_ != getpid()) watch_ = watch_process(pid_);
  const owned_fd file = open_file(where.segment_fd, file_kind::memory);
  check_sealed_memory(file.get(), sizeof(segment), "its segment");
  mapping_ = std::make_shared<mapping>(file.get(), sizeof(segment), "its segment");
  if (pid_ != getpid() && !watch_) watch_ = open_file(memory().life_line, file_kind::life_line);
  check_segment(where.secret);  // last: all that was opened was this process's
  how_ = we_can_fence && memory().can_fence == 1 ? sync::glance::cheap : sync::glance::full;
}

peer_process::peer_process(rank number, std::string why, std::shared_ptr<mapping> nowhere)
    : number_(number), why_(std::move(why)), mapping_(std::move(nowhere)) {
  if (!why_.empty()) ended_.set(1);
}

void peer_process::check_segment(const token& secret) const {
  const segment& found = memory();
  if (found.magic != segment_magic || found.bytes != sizeof(segment) || found.rank != number_ ||
      found.secret != secret) {
    throw error("its segment is not the one its address speaks of");
  }
  if (found.start_time != start_time_of(pid_)) {
    throw error(fmt::format("process {} here is another one (another pid namespace?)", pid_));
  }
}

bool peer_process::known_gone() const noexcept {
  return ended_.get() != 0 || memory().closed.get() != 0;
}

bool peer_process::is_gone() noexcept {
  if (known_gone()) return true;
  if (!watch_ || !is_readable(watch_.get())) return false;
  ended_.set(1);
  return true;
}

std::string peer_process::describe_end() const {
  if (!why_.empty()) return why_;
  if (memory().closed.get() != 0) return fmt::format("it has left the job (process {})", pid_);
  return fmt::format("its process {} has ended", pid_);
}

owned_fd peer_process::open_file(int fd, file_kind kind) {
  owned_fd file = open_of_process(pid_, fd, kind);
  // Alive after the opening, so it was this process that was opened.
  if (watch_ && is_readable(watch_.get())) {
    throw error(fmt::format("process {} of rank {} has ended", pid_, number_));
  }
  return file;
}

bool peer_process::allows_copies() noexcept {
  token seen{};
  iovec here{seen.data(), seen.size()};
  // NOLINTNEXTLINE: another process's address
  iovec there{reinterpret_cast<void*>(memory().at + offsetof(segment, secret)), seen.size()};
  const ssize_t got = process_vm_readv(pid_, &here, 1, &there, 1, 0);
  if (got < 0 && errno == ESRCH) ended_.set(1);  // sooner than its pidfd says so
  return got == static_cast<ssize_t>(seen.size()) && seen == memory().secret;
}

}  // namespace heddle::transport::shm
