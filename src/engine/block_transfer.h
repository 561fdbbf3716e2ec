// block_transfer.h - a put or get of many blocks that ends as one.
//
// Blocks in mapped memory are copied by the caller. For the rest there is a transfer, which has
// some blocks under way at a time: the end of each, on whatever thread, posts the next one. So a
// long list neither fills the lane's queue nor needs a thread to wait.
#pragma once
#include <heddle/detail/direct.h>
#include <heddle/lane.h>

#include <atomic>
#include <cstdint>
#include <new>

#include "engine/block_source.h"

namespace heddle::engine {

struct put_of_block {
  static constexpr rights wanted = rights::write;
  static void copy(const block& b) noexcept {
    detail::put_direct(b.there.target->direct + b.there.offset, b.here.data(), b.here.size());
  }
  static status post(lane& on, const block& b, const completion& ended) noexcept {
    return on.try_put(b.here, b.there, ended);
  }
};
struct get_of_block {
  static constexpr rights wanted = rights::read;
  static void copy(const block& b) noexcept {
    detail::get_direct(b.here.data(), b.there.target->direct + b.there.offset, b.here.size());
  }
  static status post(lane& on, const block& b, const completion& ended) noexcept {
    return on.try_get(b.here, b.there, ended);
  }
};

/// `Move` is one of the two above, `Source` one of block_source.h.
template <class Move, class Source>
class block_transfer {
 public:
  /// As blocks.h says of the try_ forms.
  static status start(lane& on, const Source& blocks, const completion& ended) noexcept {
    std::uint64_t i = 0;
    while (i < blocks.count() && is_mapped(blocks.at(i))) Move::copy(blocks.at(i++));
    if (i == blocks.count()) return status::done;
    auto* const made = new (std::nothrow) block_transfer(on, blocks, i, ended);
    return made != nullptr ? made->begin(i) : status::no_memory;
  }

 private:
  /// Blocks under way at a time: enough to fill a wire, few enough to leave others room.
  static constexpr int most_chains = 256;

  block_transfer(lane& on, const Source& blocks, std::uint64_t copied, const completion& ended)
      : on_(on),
        blocks_(blocks),
        ended_(ended),
        next_(copied + 1),
        peer_(owner_of(blocks.at(copied))) {
    std::uint64_t bytes = 0;
    for (std::uint64_t i = 0; i < copied; ++i) bytes += blocks.at(i).here.size();
    bytes_.store(bytes, std::memory_order_relaxed);  // relaxed: nobody else knows of it yet
  }

  static bool is_mapped(const block& b) noexcept {
    const detail::remote_target* const t = b.there.target;
    return t != nullptr && detail::reachable(*t, b.there.offset, b.here.size(), Move::wanted);
  }
  static rank owner_of(const block& b) noexcept {
    return b.there.target != nullptr ? b.there.target->owner : any_source;
  }

  /// As start(), of block number `first` and those behind it. Whoever starts counts as a chain, so
  /// that the transfer stays until it is through.
  status begin(std::uint64_t first) noexcept {
    const status s = post(first);
    if (is_busy(s)) {
      delete this;
      return s;
    }
    if (s != status::posted) {
      note(first, {.code = s, .bytes = blocks_.at(first).here.size()});
      run();
    }
    for (int i = 1; i < most_chains && has_more(); ++i) {
      chains_.fetch_add(1, std::memory_order_relaxed);  // relaxed: ours keeps it above 0
      run();
    }
    if (!leave()) return status::posted;
    const status code = code_.load(std::memory_order_relaxed);  // relaxed: after leave()
    delete this;
    return code;
  }

  /// A chain: one block after the other, until one is under way, whose end goes on with it, or none
  /// is left.
  void run() noexcept {
    while (has_more()) {
      const std::uint64_t i = next_.fetch_add(1, std::memory_order_relaxed);  // relaxed: a number
      if (i >= blocks_.count()) break;
      if (!settle(i)) return;
    }
    if (leave()) finish();
  }
  /// After the first failure no block is begun.
  [[nodiscard]] bool has_more() const noexcept {
    // Relaxed: hints.
    return next_.load(std::memory_order_relaxed) < blocks_.count() &&
           code_.load(std::memory_order_relaxed) == status::done;
  }

  status post(std::uint64_t i) noexcept {
    return Move::post(on_, blocks_.at(i), {&block_transfer::on_end, this, i});
  }
  /// True: block `i` has ended. False: its chain goes on later, perhaps already, and the transfer
  /// may be gone.
  bool settle(std::uint64_t i) noexcept {
    const status s = post(i);
    if (s == status::posted) return false;
    if (is_busy(s)) {
      on_.when_ready({&block_transfer::on_room, this, i});
      return false;
    }
    note(i, {.code = s, .bytes = blocks_.at(i).here.size()});
    return true;
  }
  static void on_end(void* owner, std::uint64_t i, const outcome& what) noexcept {
    auto& self = *static_cast<block_transfer*>(owner);
    self.note(i, what);
    self.run();
  }
  static void on_room(void* owner, std::uint64_t i, const outcome& what) noexcept {
    auto& self = *static_cast<block_transfer*>(owner);
    if (what.code != status::done)
      self.note(i, what);
    else if (!self.settle(i))
      return;
    self.run();
  }

  void note(std::uint64_t i, const outcome& what) noexcept {
    // Relaxed: whoever leaves last has acquired all of it.
    if (what.code == status::done) {
      bytes_.fetch_add(what.bytes, std::memory_order_relaxed);
      return;
    }
    status none = status::done;
    if (code_.compare_exchange_strong(none, what.code, std::memory_order_relaxed))
      peer_ = owner_of(blocks_.at(i));
  }
  /// True: that was the last chain.
  bool leave() noexcept {
    return chains_.fetch_sub(1, std::memory_order_acq_rel) == 1;  // pairs with itself
  }
  void finish() noexcept {
    const completion ended = ended_;
    const outcome what{.code = code_.load(std::memory_order_relaxed),  // relaxed: after leave()
                       .peer = peer_,
                       .bytes = bytes_.load(std::memory_order_relaxed)};  // relaxed: the same
    delete this;
    ended(what);
  }

  lane& on_;
  const Source blocks_;
  const completion ended_;
  std::atomic<std::uint64_t> next_;  // block to begin
  std::atomic<int> chains_{2};       // whoever starts, and the first
  std::atomic<status> code_{status::done};
  std::atomic<std::uint64_t> bytes_{0};  // moved
  rank peer_;                            // of the first block, or of the first that failed
};

}  // namespace heddle::engine
