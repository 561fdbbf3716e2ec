// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/results/row_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <heddle/status.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "linktest/results/output.h"

namespace heddle::linktest {

row_file::row_file(std::string folder) : folder_(std::move(folder)) {
  const std::string name = temporary_in(folder_, "rows");
  file_ = descriptor(::open(name.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0600));
  if (file_.get() < 0) fail(errno);
  ::unlink(name.c_str());
}

row_file::~row_file() {
  if (mapped_ != nullptr) ::munmap(const_cast<std::byte*>(mapped_), mapped_bytes_);
}

/// By write() and not through the mapping, where a full disk would be a signal.
std::uint64_t row_file::add(std::span<const std::byte> bytes) {
  if (const int problem =
          write_all(file_.get(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
      problem != 0)
    fail(problem);
  const std::uint64_t place = std::exchange(size_, size_ + bytes.size());
  if (size_ > mapped_bytes_) map();
  return place;
}

/// Twice as much as there is, so that this is rarely done.
void row_file::map() {
  constexpr std::uint64_t least = std::uint64_t{1} << 30;
  if (mapped_ != nullptr) ::munmap(const_cast<std::byte*>(mapped_), mapped_bytes_);
  mapped_ = nullptr;
  mapped_bytes_ = std::max(least, 2 * size_);
  void* const begin = ::mmap(nullptr, mapped_bytes_, PROT_READ, MAP_SHARED, file_.get(), 0);
  if (begin == MAP_FAILED) fail(errno);
  mapped_ = static_cast<const std::byte*>(begin);
}

void row_file::fail(int cause) const {
  throw error(
      fmt::format("cannot keep all results in {}: {}; make room there and go on with --resume, "
                  "which measures nothing again",
                  folder_, std::strerror(cause)));
}

}  // namespace heddle::linktest
