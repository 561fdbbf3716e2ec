// SPDX-License-Identifier: BSD-3-Clause
// utofu.cpp - uTofu by its calls and nothing else: what Heddle's utofu backend could reach at best.
//
// A put has ended when the notice of its response is there: the bytes are in the other rank's
// memory, which is what Heddle's completion of a put says. A completion of the TCQ would come
// earlier and say less. There are no tagged messages; a call is a put that the partner is told of.
#include <atomic>
#include <cstring>
#include <stdexcept>

#include "harness/slots.h"
#include "libraries/rival.h"
#include "libraries/utofu_calls.h"

namespace heddle::bench {
namespace {

constexpr unsigned long told = UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE;

using all_paths = std::vector<std::unique_ptr<class utofu_path>>;

/// The words of kernels/library.h.
class tofu_path {
 public:
  using place = std::uint64_t;  ///< an offset
  static constexpr bool handler_answers = false;

  tofu_path(const task& t, all_paths& paths, const utofu_memory& table, int thread)
      : paths_(paths),
        path_(*paths[static_cast<std::size_t>(t.path_of(thread))]),
        table_(table),
        own_(path_, number_on_path(t, thread), t.what.window, t.crowded()),
        window_(static_cast<std::uint64_t>(t.what.window)),
        bytes_(t.what.bytes),
        memory_(std::max(bytes_ * window_, sizeof(std::uint64_t))),
        registered_(path_.queue(), memory_),
        layout_(table_layout::for_spec(t.what)),
        slot_(layout_.slot_of(thread)),
        line_(layout_.line_of(thread)),
        // In a ping-pong the partner's answer says that a put has arrived.
        word_flags_(t.what.what == kind::latency && !t.gups() ? 0 : utofu_thread::noticed),
        most_untaken_(notices / static_cast<std::uint64_t>(path_.threads())) {}

  [[nodiscard]] place at(std::size_t offset) const noexcept { return offset; }
  [[nodiscard]] std::byte* here(std::size_t offset) const { return table_.data() + offset; }

  void put_word(std::uint64_t value, place to, std::uint64_t bytes = sizeof(std::uint64_t)) {
    own_.put_word(value, to, bytes, word_flags_);
  }
  void put(place to) { put_with(utofu_thread::noticed, to); }
  void put_told(place to) { put_with(told, to); }
  void get(place from) { own_.get(stadd(next_slot()), from, bytes_); }
  void fetch_add(place at) { own_.fetch_add(1, at); }
  /// Armws are atomic with those that go to the same VCQ, so each word has one.
  void exclusive_or(std::uint64_t value, place at) {
    const std::size_t home = at / sizeof value % paths_.size();
    own_.armw(UTOFU_ARMW_OP_XOR, value, paths_[home]->theirs(), at);
  }
  [[nodiscard]] std::uint64_t get_word(place from) {
    own_.get(registered_.stadd(), from, sizeof(std::uint64_t));
    own_.drain();
    std::uint64_t value = 0;
    std::memcpy(&value, memory_.data(), sizeof value);
    return value;
  }

  /// The partner says now and then how many it has taken, so that its queue is never full.
  void call(message) {
    if (sent_ - known_ >= most_untaken_) await_taken();
    put_with(told, slot_);
    ++sent_;
  }
  [[nodiscard]] std::uint64_t arrived() const { return own_.arrived(); }
  void await_arrived(std::uint64_t count) {
    while (count - said_ > most_untaken_ / 4) {
      said_ += most_untaken_ / 4;
      own_.await_arrived(said_);
      own_.put_word(said_, line_, sizeof said_, 0);
    }
    own_.await_arrived(count);
  }

  void drain() { own_.drain(); }
  void flush() {}  // drain() has
  void progress() {}
  void notify() { own_.put_word(0, slot_, 1, told); }
  void await_notice() { own_.await_arrived(++heard_); }

 private:
  static constexpr std::uint64_t notices = 1 << 15;  // of a path, in the target's queue

  static int number_on_path(const task& t, int thread) {
    int first = thread;
    while (first > 0 && t.path_of(first - 1) == t.path_of(thread)) --first;
    return thread - first;
  }
  void put_with(unsigned long flags, place to) {
    own_.put(memory_.data(), stadd(0), to, bytes_, flags);
  }
  /// Operations of one VCQ on another end in their order, so a slot is free when the window is.
  std::uint64_t next_slot() {
    if (++slot_of_get_ == window_) slot_of_get_ = 0;
    return slot_of_get_;
  }
  [[nodiscard]] utofu_stadd_t stadd(std::uint64_t slot) const {
    return registered_.stadd() + slot * bytes_;
  }
  void await_taken() {
    auto& taken = *reinterpret_cast<std::uint64_t*>(here(line_));
    own_.await([&] {
      // Acquire pairs with however uTofu publishes a put.
      known_ = std::atomic_ref(taken).load(std::memory_order_acquire);
      return sent_ - known_ < most_untaken_;
    });
  }

  all_paths& paths_;
  utofu_path& path_;
  const utofu_memory& table_;
  utofu_thread own_;
  const std::uint64_t window_;
  const std::size_t bytes_;
  const utofu_memory memory_;  // what is sent, and a landing for each slot of the window
  const utofu_registration registered_;
  const table_layout layout_;
  const std::uint64_t slot_, line_;
  const unsigned long word_flags_;
  const std::uint64_t most_untaken_;
  std::uint64_t slot_of_get_ = 0, heard_ = 0;
  std::uint64_t sent_ = 0, known_ = 0;  // calls, and of these taken by the partner
  std::uint64_t said_ = 0;              // how many we have taken, as the partner was told
};

/// Forked before the first call of uTofu, which does not survive one.
class tofu_library final : public forked_library {
 public:
  using path = tofu_path;

  tofu_library(const process_pair& both, const task& t)
      : forked_library(both, checked(t)), table_(t.table_bytes()) {
    for (int i = 0; i < t.paths(); ++i) {
      paths_.push_back(
          std::make_unique<utofu_path>(static_cast<std::size_t>(i), threads_on(i), table_));
      paths_.back()->connect(swap(*this, paths_.back()->mine()));
    }
  }
  [[nodiscard]] std::unique_ptr<tofu_path> make_path(int thread) {
    return std::make_unique<tofu_path>(task_, paths_, table_, thread);
  }
  [[nodiscard]] std::span<std::byte> table() const { return table_.bytes(); }

 private:
  static const task& checked(const task& t) {
    constexpr std::uint64_t most_bytes = (1 << 24) - 1;
    if (t.what.bytes == 0 || t.what.bytes > most_bytes)
      throw std::runtime_error("uTofu moves 1 to 16777215 bytes at once");
    return t;
  }
  [[nodiscard]] int threads_on(int number) const {
    int count = 0;
    for (int thread = 0; thread < task_.what.threads; ++thread)
      count += task_.path_of(thread) == number;
    return count;
  }

  const utofu_memory table_;
  all_paths paths_;
};

}  // namespace
}  // namespace heddle::bench

int main(int argc, char** argv) {
  return heddle::bench::rival_main<heddle::bench::tofu_library>(argc, argv);
}
