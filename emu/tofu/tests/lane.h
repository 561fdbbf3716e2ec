// SPDX-License-Identifier: BSD-3-Clause
// lane.h - a VCQ with some registered memory, for tests.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "nodes.h"

namespace nodes {

/// Where the memory that is registered comes from.
enum class memory_kind { private_pages, memfd };

/// Zeroed pages, aligned to 64 KiB.
class pages {
 public:
  explicit pages(std::size_t bytes, memory_kind kind = memory_kind::memfd) : bytes_(bytes) {
    const std::size_t alignment = 65536;
    reserved_ = bytes + alignment;
    at_ = mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const auto first = (reinterpret_cast<std::uintptr_t>(at_) + alignment - 1) & ~(alignment - 1);
    void* const place = reinterpret_cast<void*>(first);
    if (kind == memory_kind::memfd) {
      fd_ = memfd_create("test", MFD_CLOEXEC);
      EXPECT_EQ(ftruncate(fd_, static_cast<off_t>(bytes)), 0);
    }
    const int how = kind == memory_kind::memfd ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
    EXPECT_EQ(mmap(place, bytes, PROT_READ | PROT_WRITE, how | MAP_FIXED, fd_, 0), place);
    data_ = static_cast<std::byte*>(place);
  }
  pages(const pages&) = delete;
  pages& operator=(const pages&) = delete;
  ~pages() {
    munmap(at_, reserved_);
    close_file();
  }
  /// The memory stays.
  void close_file() {
    if (fd_ >= 0) close(std::exchange(fd_, -1));
  }
  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return bytes_; }
  template <class T>
  [[nodiscard]] T& as(std::size_t offset = 0) const {
    return *reinterpret_cast<T*>(data_ + offset);
  }

 private:
  std::size_t bytes_, reserved_;
  void* at_;
  int fd_ = -1;
  std::byte* data_;
};

/// A VCQ and one registered piece of memory.
struct lane {
  explicit lane(utofu_tni_id_t tni = 0, unsigned long flags = 0, std::size_t bytes = 65536,
                memory_kind kind = memory_kind::memfd)
      : memory(bytes, kind) {
    EXPECT_EQ(utofu_create_vcq(tni, flags, &vcq), UTOFU_SUCCESS);
    EXPECT_EQ(utofu_query_vcq_id(vcq, &id), UTOFU_SUCCESS);
    EXPECT_EQ(utofu_reg_mem(vcq, memory.data(), bytes, 0, &stadd), UTOFU_SUCCESS);
  }
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;
  ~lane() { EXPECT_EQ(utofu_free_vcq(vcq), UTOFU_SUCCESS); }

  /// The next TCQ entry, waited for. Returns its code.
  int await_tcq(void** cbdata) const {
    int rc = UTOFU_ERR_NOT_FOUND;
    while ((rc = utofu_poll_tcq(vcq, 0, cbdata)) == UTOFU_ERR_NOT_FOUND) sched_yield();
    return rc;
  }
  int await_mrq(utofu_mrq_notice& notice) const {
    int rc = UTOFU_ERR_NOT_FOUND;
    while ((rc = utofu_poll_mrq(vcq, 0, &notice)) == UTOFU_ERR_NOT_FOUND) sched_yield();
    return rc;
  }

  pages memory;
  utofu_vcq_hdl_t vcq = 0;
  utofu_vcq_id_t id = 0;
  utofu_stadd_t stadd = 0;
};

/// A peer's lane, as the board tells it.
struct address {
  utofu_vcq_id_t id;
  utofu_stadd_t stadd;
};
inline void publish(board& all, unsigned me, const lane& mine) {
  all.words[2 * me] = mine.id;
  all.words[2 * me + 1] = mine.stadd;
}
inline address address_of(board& all, unsigned peer) {
  return {all.words[2 * peer], all.words[2 * peer + 1]};
}

/// Waits until all that `mine` posted to the peer has been done, where the peer's last 8 bytes of
/// memory are nobody else's.
inline void settle(const lane& mine, address to) {
  EXPECT_EQ(utofu_armw8(mine.vcq, to.id, UTOFU_ARMW_OP_ADD, 1, to.stadd + mine.memory.size() - 8,
                        255, UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE, nullptr),
            UTOFU_SUCCESS);
  utofu_mrq_notice notice{};
  while (notice.edata != 255) ASSERT_EQ(mine.await_mrq(notice), UTOFU_SUCCESS);
}

inline constexpr unsigned long tcq = UTOFU_ONESIDED_FLAG_TCQ_NOTICE;
inline constexpr unsigned long local = UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE;
inline constexpr unsigned long remote = UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE;
inline constexpr unsigned long strong = UTOFU_ONESIDED_FLAG_STRONG_ORDER;

}  // namespace nodes
