// memory.h - local buffers of a peer: they begin at a page, as Heddle's do in the same benchmark.
#pragma once
#include <cstddef>
#include <memory>
#include <vector>

namespace heddle::peers {

/// Zeroed, so that every page is there before timing; has an address even when empty.
class buffer {
 public:
  explicit buffer(std::size_t bytes) : room_(bytes + page_bytes) {
    void* at = room_.data();
    std::size_t room = room_.size();
    data_ = static_cast<std::byte*>(std::align(page_bytes, bytes, at, room));
  }
  buffer(const buffer&) = delete;
  buffer& operator=(const buffer&) = delete;
  [[nodiscard]] std::byte* data() const noexcept { return data_; }

 private:
  static constexpr std::size_t page_bytes = 4096;
  std::vector<std::byte> room_;
  std::byte* data_ = nullptr;
};

}  // namespace heddle::peers
