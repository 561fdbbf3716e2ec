// SPDX-License-Identifier: BSD-3-Clause
#include "memory/userfault.h"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#include <array>
#include <cerrno>

#include "base/error.h"

namespace heddle::memory {
namespace {

// Newer than the oldest headers we build with.
constexpr int user_mode_only = 1;                       // Linux 5.11
constexpr std::uint64_t protects_shared = 1u << 12;     // Linux 5.19: shmem and hugetlbfs too
constexpr std::uint64_t protects_by_itself = 1u << 15;  // Linux 6.7: all kinds of mappings
constexpr std::uint64_t needed = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_EVENT_UNMAP |
                                 UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_EVENT_REMOVE;

/// Faults of the kernel's own are of no interest, so no privilege is.
unique_fd open_descriptor() {
  const auto open = [](int flags) {
    return unique_fd(static_cast<int>(syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | flags)));
  };
  unique_fd fd = open(user_mode_only);
  return fd || errno != EINVAL ? std::move(fd) : open(0);
}

/// What the kernel offers of `features`; 0 with errno.
std::uint64_t agree(int fd, std::uint64_t features) {
  uffdio_api api{};
  api.api = UFFD_API;
  api.features = features;
  return ioctl(fd, UFFDIO_API, &api) == 0 ? api.features : 0;
}

}  // namespace

userfault userfault::open(std::string& why_not) {
  const unique_fd asking = open_descriptor();
  if (!asking) {
    why_not = fmt::format("userfaultfd: {}; a container may have to allow it", errno_text(errno));
    return {};
  }
  const std::uint64_t offered = agree(asking.get(), 0);
  if ((offered & needed) != needed) {
    why_not = "userfaultfd of this kernel cannot watch without holding up page faults (Linux 5.7)";
    return {};
  }
  unique_fd fd = open_descriptor();
  if (!fd || agree(fd.get(), offered & (needed | protects_shared | protects_by_itself)) == 0) {
    why_not = fmt::format("userfaultfd: {}", errno_text(errno));
    return {};
  }
  return userfault(std::move(fd));
}

bool userfault::watch(std::uintptr_t from, std::uintptr_t to) const noexcept {
  const auto watch_pages_of = [&](std::uintptr_t bytes) {
    const std::uintptr_t first = from & ~(bytes - 1), end = (to + bytes - 1) & ~(bytes - 1);
    uffdio_register wanted{};
    wanted.range = {first, end - first};
    wanted.mode = UFFDIO_REGISTER_MODE_WP;
    return ioctl(fd_.get(), UFFDIO_REGISTER, &wanted) == 0;
  };
  if (watch_pages_of(1)) return true;
  constexpr std::uintptr_t huge_page = 2u << 20;  // of hugetlbfs: only whole ones
  return errno == EINVAL && watch_pages_of(huge_page);
}

void userfault::unwatch(std::uintptr_t from, std::uintptr_t to) const noexcept {
  uffdio_range range{from, to - from};
  static_cast<void>(ioctl(fd_.get(), UFFDIO_UNREGISTER, &range));
}

void userfault::wait() const noexcept {
  pollfd news{fd_.get(), POLLIN, 0};
  while (poll(&news, 1, -1) < 0 && errno == EINTR) {
  }
}

int userfault::take(std::span<changed_range, 16> news) const noexcept {
  std::array<uffd_msg, 16> messages;
  const ssize_t bytes = read(fd_.get(), messages.data(), sizeof(messages));
  if (bytes < 0) return errno == EAGAIN || errno == EINTR ? 0 : -1;
  int count = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(bytes) / sizeof(uffd_msg); ++i) {
    const auto& what = messages[i].arg;
    changed_range& range = news[static_cast<std::size_t>(count)];
    switch (messages[i].event) {
      case UFFD_EVENT_UNMAP:
      case UFFD_EVENT_REMOVE:
        range = {what.remove.start, what.remove.end};
        ++count;
        break;
      case UFFD_EVENT_REMAP:
        range = {what.remap.from, what.remap.from + what.remap.len};
        ++count;
        break;
      default:  // no fault is ever reported, as nothing is protected
        break;
    }
  }
  return count;
}

}  // namespace heddle::memory
