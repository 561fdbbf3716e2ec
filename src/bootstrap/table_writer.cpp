// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/table_writer.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "base/error.h"

namespace heddle::bootstrap {
namespace {

constexpr std::size_t buffer_bytes = 64 * 1024;

template <class T>
std::span<const std::byte> bytes_of(const std::vector<T>& values) {
  return std::as_bytes(std::span(values));
}

void write_all(int file, std::size_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t written = pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail_errno(errno, "write the table of all ranks' addresses");
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::size_t>(written);
  }
}

}  // namespace

table_file::table_file() : file_(memfd_create("heddle-ranks", MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (!file_) fail_errno(errno, "make the table of all ranks' addresses");
}

void table_file::append(std::span<const std::byte> bytes) {
  buffer_.insert(buffer_.end(), bytes.begin(), bytes.end());
  size_ += bytes.size();
  if (buffer_.size() >= buffer_bytes) flush();
}

void table_file::flush() {
  write_all(file_.get(), size_ - buffer_.size(), buffer_);
  buffer_.clear();
}

void table_file::write_at(std::size_t offset, std::span<const std::byte> bytes) {
  flush();
  write_all(file_.get(), offset, bytes);
}

unique_fd table_file::seal() {
  flush();
  constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (fcntl(file_.get(), F_ADD_SEALS, seals) != 0)
    fail_errno(errno, "seal the table of all ranks' addresses");
  return std::move(file_);
}

table_writer::table_writer(std::size_t count) : begins_(count) {
  file_.append(bytes_of(begins_));
}

void table_writer::add(std::size_t rank, std::span<const std::byte> given) {
  begins_[rank] = static_cast<std::uint32_t>(file_.size());
  const auto length = static_cast<std::uint32_t>(given.size());
  file_.append(std::as_bytes(std::span(&length, 1)));
  file_.append(given);
}

unique_fd table_writer::finish() {
  const auto missing = std::ranges::find(begins_, 0u);
  if (missing != begins_.end())
    fail("nobody has given anything for rank {}", missing - begins_.begin());
  file_.write_at(0, bytes_of(begins_));
  return file_.seal();
}

}  // namespace heddle::bootstrap
