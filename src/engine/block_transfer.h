// SPDX-License-Identifier: BSD-3-Clause
// block_transfer.h - a put or get of many blocks that ends as one.
//
// Blocks in mapped memory are copied by the caller. For the rest there is a transfer, which has
// some blocks under way at a time: the end of each, on whatever thread, posts the next one. So a
// long list neither fills the lane's queue nor needs a thread to wait.
#pragma once
#include <heddle/detail/direct.h>
#include <heddle/lane.h>

#include <cstdint>
#include <new>

#include "engine/block_source.h"
#include "sync/joint_work.h"

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
        work_(copied + 1),
        peer_(owner_of(blocks.at(copied))) {
    for (std::uint64_t i = 0; i < copied; ++i) work_.add(blocks.at(i).here.size());
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
    for (int i = 1; i < most_chains && work_.has_more(blocks_.count()); ++i) {
      work_.join();
      run();
    }
    if (!work_.leave()) return status::posted;
    const status code = work_.code();
    delete this;
    return code;
  }

  /// A chain: one block after the other, until one is under way, whose end goes on with it, or none
  /// is left.
  void run() noexcept {
    while (work_.has_more(blocks_.count())) {
      const std::uint64_t i = work_.take();
      if (i >= blocks_.count()) break;
      if (!settle(i)) return;
    }
    if (work_.leave()) finish();
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
    if (what.code == status::done)
      work_.add(what.bytes);
    else if (work_.fail(what.code))
      peer_ = owner_of(blocks_.at(i));
  }
  void finish() noexcept {
    const completion ended = ended_;
    const outcome what{.code = work_.code(), .peer = peer_, .bytes = work_.sum()};
    delete this;
    ended(what);
  }

  lane& on_;
  const Source blocks_;
  const completion ended_;
  sync::joint_work work_;
  rank peer_;  // of the first block, or of the first that failed
};

}  // namespace heddle::engine
