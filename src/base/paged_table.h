// paged_table.h - values by number, of which few exist: of a job's many ranks a process talks to
// some.
#pragma once
#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace heddle {

/// Owns a T for some of the numbers below its size. A number without one costs 1/32 byte; to find
/// one takes two loads. One thread at a time.
template <class T>
class paged_table {
 public:
  explicit paged_table(std::size_t size) : pages_((size + page_size - 1) / page_size) {}

  /// Null: there is none. `number` is below the size.
  [[nodiscard]] T* find(std::size_t number) const noexcept {
    const auto& page = pages_[number / page_size];
    return page == nullptr ? nullptr : (*page)[number % page_size].get();
  }
  /// Puts one where there was none.
  T& insert(std::size_t number, std::unique_ptr<T> value) {
    auto& page = pages_[number / page_size];
    if (page == nullptr) page = std::make_unique<page_t>();
    auto& place = (*page)[number % page_size];
    place = std::move(value);
    return *place;
  }
  /// Drops all there are; its size is 0 from now on.
  void clear() noexcept { pages_.clear(); }

 private:
  static constexpr std::size_t page_size = 256;
  using page_t = std::array<std::unique_ptr<T>, page_size>;
  std::vector<std::unique_ptr<page_t>> pages_;
};

}  // namespace heddle
