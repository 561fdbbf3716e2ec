// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/gathered.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <cstring>

#include "bootstrap/launcher_protocol.h"

namespace heddle::bootstrap {
namespace {

constexpr std::size_t word_bytes = sizeof(std::uint32_t);

std::uint32_t word_at(const std::byte* at) noexcept {
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

/// What is mapped could be cut off, or changed after it was looked at.
bool is_sealed(int file) noexcept {
  constexpr int needed = F_SEAL_SHRINK | F_SEAL_WRITE;
  const int seals = fcntl(file, F_GET_SEALS);
  return seals >= 0 && (seals & needed) == needed;
}

}  // namespace

gathered::gathered(std::span<const blob> all)
    : gathered(decode(protocol::encode_blobs(all), all.size()).value()) {}

std::optional<gathered> gathered::decode(blob table, std::size_t count) {
  const auto kept = std::make_shared<const blob>(std::move(table));
  gathered made(kept, *kept, count);
  if (!made.sound()) return {};
  return made;
}

std::optional<gathered> gathered::map(int file, std::size_t count) {
  struct stat facts {};
  if (!is_sealed(file) || fstat(file, &facts) != 0) return {};
  const auto bytes = static_cast<std::size_t>(facts.st_size);
  if (bytes == 0 || bytes > protocol::max_everything(count)) return {};
  void* const memory = mmap(nullptr, bytes, PROT_READ, MAP_SHARED, file, 0);
  if (memory == MAP_FAILED) return {};
  const std::shared_ptr<const void> kept(
      memory, [bytes](const void* mapped) { munmap(const_cast<void*>(mapped), bytes); });
  gathered made(kept, {static_cast<const std::byte*>(memory), bytes}, count);
  if (!made.sound()) return {};
  return made;
}

bool gathered::sound() const noexcept {
  if (table_.size() / word_bytes < count_) return false;
  std::size_t sum = count_ * word_bytes;
  for (std::size_t rank = 0; rank < count_; ++rank) {
    const std::size_t begin = word_at(table_.data() + rank * word_bytes);
    if (begin > table_.size() || table_.size() - begin < word_bytes) return false;
    const std::size_t length = word_at(table_.data() + begin);
    if (length > protocol::max_blob_bytes) return false;
    if (length > table_.size() - begin - word_bytes) return false;
    sum += word_bytes + length;
  }
  return sum == table_.size();
}

std::span<const std::byte> gathered::operator[](std::size_t rank) const noexcept {
  const std::byte* const at = table_.data() + word_at(table_.data() + rank * word_bytes);
  return {at + word_bytes, word_at(at)};
}

}  // namespace heddle::bootstrap
