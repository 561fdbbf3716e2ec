// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/board.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <thread>

#include "base/error.h"
#include "base/fd.h"

namespace heddle::fuzz {
namespace {

/// Hands out places one after the other; without memory it only counts.
class layout {
 public:
  explicit layout(std::byte* memory) : memory_(memory) {}
  template <class T>
  T* take(std::size_t n) {
    used_ = (used_ + alignof(T) - 1) / alignof(T) * alignof(T);
    T* const place = memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + used_);
    used_ += n * sizeof(T);
    return place;
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::byte* memory_;
  std::size_t used_ = 0;
};

int highest_area(const plan& p) {
  int highest = -1;
  for (const area& a : p.areas) highest = std::max(highest, a.id);
  return highest + 1;
}

}  // namespace

board::board(const std::string& file, const plan& p, bool make)
    : ranks_(p.ranks), areas_(highest_area(p)) {
  const auto place_all = [&](layout in) {
    const auto ranks = static_cast<std::size_t>(ranks_);
    const std::size_t places = static_cast<std::size_t>(areas_) * ranks;
    moves_ = in.take<std::atomic<std::uint64_t>>(1);
    rank_records_ = in.take<rank_record>(ranks);
    records_ = in.take<record>(static_cast<std::size_t>(p.ids()) * ranks);
    area_records_ = in.take<area_record>(static_cast<std::size_t>(p.phases()) * places);
    keys_ = in.take<key>(places);
    return in.used();
  };
  bytes_ = place_all(layout(nullptr));
  // Zeroed bytes are a board on which nothing has happened yet.
  const int flags = make ? O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC : O_RDWR | O_CLOEXEC;
  const unique_fd descriptor(open(file.c_str(), flags, 0600));
  if (descriptor.get() < 0) fail_errno(errno, "open the fuzzer's board {}", file);
  if (make && ftruncate(descriptor.get(), static_cast<off_t>(bytes_)) != 0)
    fail_errno(errno, "size the fuzzer's board {}", file);
  void* const at = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor.get(), 0);
  if (at == MAP_FAILED) fail_errno(errno, "map the fuzzer's board {}", file);
  memory_ = static_cast<std::byte*>(at);
  place_all(layout(memory_));
}

board::~board() {
  munmap(memory_, bytes_);
}

record& board::of(int step, int rank) const {
  return records_[step * ranks_ + rank];
}
area_record& board::of_area(int phase, int area, int rank) const {
  return area_records_[(phase * areas_ + area) * ranks_ + rank];
}
key& board::key_of(int area, int rank) const {
  return keys_[area * ranks_ + rank];
}
rank_record& board::of_rank(int rank) const {
  return rank_records_[rank];
}

void board::meet(int rank) const {
  const std::uint32_t mine = of_rank(rank).meetings.fetch_add(1) + 1;
  moved();
  for (int r = 0; r < ranks_; ++r) {
    const rank_record& other = of_rank(r);
    while (!other.gone && !other.finished && other.meetings < mine)
      std::this_thread::sleep_for(std::chrono::microseconds(200));
  }
}

}  // namespace heddle::fuzz
