// SPDX-License-Identifier: BSD-3-Clause
// passive.h - a target that is read from and written to, and takes no part.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "harness/rounds.h"
#include "harness/slots.h"
#include "kernels/library.h"
#include "parts/timing.h"

namespace heddle::bench {

/// The target waits in the library for word of the end, or computes without a call to it until the
/// initiator has changed a word in its memory.
template <class Path>
class passive_target : public exchange {
 public:
  passive_target(std::unique_ptr<Path> path, const role& r)
      : path_(std::move(path)), role_(r), layout_(table_layout::for_spec(r.what)) {}

  void conclude() final {
    ++runs_;
    if (role_.what.target == target_mode::waiting) return path_->notify();
    path_->put_word(runs_, path_->at(layout_.line_of(role_.thread)));
    path_->drain();
  }
  void respond(std::uint64_t) final {
    ++runs_;
    if (role_.what.target == target_mode::waiting) return path_->await_notice();
    compute_until_told();
  }

 protected:
  const std::unique_ptr<Path> path_;
  const role role_;
  const table_layout layout_;

 private:
  void compute_until_told() {
    auto& told = *reinterpret_cast<std::uint64_t*>(path_->here(layout_.line_of(role_.thread)));
    volatile std::uint64_t work = 1;
    // Acquire pairs with however the library publishes the initiator's put.
    while (std::atomic_ref(told).load(std::memory_order_acquire) != runs_) {
      for (int i = 0; i < 1000; ++i) work = work * 3 + 1;
    }
  }

  std::uint64_t runs_ = 0;
};

/// A value fetched from the target and back here before the next.
template <class Path>
class round_trip final : public passive_target<Path> {
 public:
  using passive_target<Path>::passive_target;
  void initiate(std::uint64_t count, stopwatch& watch) override {
    Path& path = *this->path_;
    const auto from = path.at(this->layout_.slot_of(this->role_.thread));
    if (this->role_.what.op == operation::get) {
      run(count, watch, [&] { path.get(from); });
    } else {
      run(count, watch, [&] { path.fetch_add(from); });
    }
  }

 private:
  template <class F>
  void run(std::uint64_t count, stopwatch& watch, F&& begin) {
    watch.start();
    for (std::uint64_t i = 0; i < count; ++i) {
      begin();
      this->path_->drain();
      watch.lap();
    }
  }
};

/// A window of operations on random slots of this thread's part of the target's table.
template <class Path>
class table_flood final : public passive_target<Path> {
 public:
  using passive_target<Path>::passive_target;
  void initiate(std::uint64_t count, stopwatch&) override {
    Path& path = *this->path_;
    const spec& s = this->role_.what;
    if (s.op == operation::get) {
      run(count, [&](auto at) { path.get(at); });
    } else if (s.op == operation::fetch_add) {
      run(count, [&](auto at) { path.fetch_add(at); });
    } else {
      run(count, [&](auto at) { path.put(at); });
    }
    path.drain();
    path.flush();
  }

 private:
  template <class F>
  void run(std::uint64_t count, F&& begin) {
    bare::random_slots slots(this->layout_.part,
                             static_cast<std::uint64_t>(this->role_.thread) + 1);
    const std::size_t first = this->layout_.part_of(this->role_.thread);
    const std::size_t stride = this->layout_.stride;
    for (std::uint64_t i = 0; i < count; ++i) begin(this->path_->at(first + slots.next() * stride));
  }
};

}  // namespace heddle::bench
