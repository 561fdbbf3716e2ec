// SPDX-License-Identifier: BSD-3-Clause
// fake_registrar.h - a device that remembers what it was given, and which pages lay there then.
#pragma once
#include <sys/uio.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "memory/registration_cache.h"

namespace heddle::test {

inline constexpr std::size_t page_bytes = 4096;

/// As a device would: refuses what is not mapped, has a table that can be full, and confuses two
/// registrations of the same pages (so it complains of them). Every page of a test's memory begins
/// with a word that names the mapping; the device notes it, in place of the page's frame.
class fake_registrar final : public memory::registrar {
 public:
  std::size_t capacity = SIZE_MAX;  ///< then it is full
  std::function<bool(std::span<std::byte>)> refuses = [](auto) { return false; };
  std::function<void()> while_registering = [] {};
  bool reads_pages = false;

  registered register_memory(std::span<std::byte> pages) noexcept override {
    const std::scoped_lock lock(mutex_);
    while_registering();
    for (const auto& [handle, other] : table_)
      if (other.pages.data() == pages.data() && other.pages.size() == pages.size())
        complaint_ = "the same pages twice";
    if (refuses(pages)) return {answer::refused, 0};
    if (table_.size() >= capacity) return {answer::full, 0};
    registration made{pages, {}};
    if (reads_pages && !read_names(made)) return {answer::refused, 0};
    ++registered_;
    registered_bytes_ += pages.size();
    table_.emplace(++last_, std::move(made));
    return {answer::done, last_};
  }
  void deregister(std::uint64_t handle) noexcept override {
    const std::scoped_lock lock(mutex_);
    if (table_.erase(handle) == 0) complaint_ = "deregistered what was not registered";
    ++deregistered_;
  }

  /// Whether `memory`, at `offset` of the registration, lies on the pages that were registered.
  [[nodiscard]] bool is_current(std::uint64_t handle, std::size_t offset,
                                std::span<const std::byte> memory) {
    const std::scoped_lock lock(mutex_);
    const auto found = table_.find(handle);
    if (found == table_.end()) return false;
    const registration& r = found->second;
    if (r.pages.data() + offset != memory.data()) return false;
    if (r.pages.size() - offset < memory.size()) return false;
    if (!reads_pages) return true;
    const std::size_t first = offset / page_bytes;
    const std::size_t last = (offset + memory.size() - 1) / page_bytes;
    for (std::size_t page = first; page <= last; ++page) {
      std::uint64_t now = 0;
      if (!read_name(r.pages.data() + page * page_bytes, now) || now != r.names[page]) return false;
    }
    return true;
  }
  [[nodiscard]] std::span<std::byte> pages_of(std::uint64_t handle) {
    const std::scoped_lock lock(mutex_);
    const auto found = table_.find(handle);
    return found == table_.end() ? std::span<std::byte>() : found->second.pages;
  }
  [[nodiscard]] std::size_t size() {
    const std::scoped_lock lock(mutex_);
    return table_.size();
  }
  [[nodiscard]] std::size_t registrations() const { return registered_; }
  [[nodiscard]] std::size_t bytes_in_all() const { return registered_bytes_; }
  [[nodiscard]] std::string complaint() {
    const std::scoped_lock lock(mutex_);
    return complaint_;
  }

 private:
  struct registration {
    std::span<std::byte> pages;
    std::vector<std::uint64_t> names;
  };
  /// By a system call: the memory may not be mapped, and who writes there is not our friend.
  static bool read_name(const std::byte* page, std::uint64_t& name) {
    iovec here{&name, sizeof(name)};
    iovec there{const_cast<std::byte*>(page), sizeof(name)};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == sizeof(name);
  }
  static bool read_names(registration& made) {
    made.names.resize(made.pages.size() / page_bytes);
    for (std::size_t i = 0; i < made.names.size(); ++i)
      if (!read_name(made.pages.data() + i * page_bytes, made.names[i])) return false;
    return true;
  }

  std::mutex mutex_;
  std::map<std::uint64_t, registration> table_;
  std::uint64_t last_ = 0;
  std::string complaint_;
  std::atomic<std::size_t> registered_{0}, deregistered_{0}, registered_bytes_{0};
};

}  // namespace heddle::test
