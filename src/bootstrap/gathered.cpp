#include "bootstrap/gathered.h"

#include <cstring>

#include "bootstrap/launcher_protocol.h"

namespace heddle::bootstrap {
namespace {

std::uint32_t word_at(const std::byte* at) noexcept {
  std::uint32_t word = 0;
  std::memcpy(&word, at, sizeof word);
  return word;
}

}  // namespace

gathered::gathered(std::span<const blob> all)
    : gathered(decode(protocol::encode_blobs(all), all.size()).value()) {}

std::optional<gathered> gathered::decode(blob encoded, std::size_t count) {
  gathered made;
  std::size_t at = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (encoded.size() - at < sizeof(std::uint32_t)) return {};
    const std::size_t length = word_at(encoded.data() + at);
    const std::size_t begin = at + sizeof(std::uint32_t);
    if (length > protocol::max_blob_bytes || length > encoded.size() - begin) return {};
    made.begins_.push_back(static_cast<std::uint32_t>(at));
    at = begin + length;
  }
  if (at != encoded.size()) return {};
  made.encoded_ = std::move(encoded);
  return made;
}

std::span<const std::byte> gathered::operator[](std::size_t rank) const noexcept {
  const std::byte* const at = encoded_.data() + begins_[rank];
  return {at + sizeof(std::uint32_t), word_at(at)};
}

}  // namespace heddle::bootstrap
