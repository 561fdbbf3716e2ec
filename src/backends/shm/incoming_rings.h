// SPDX-License-Identifier: BSD-3-Clause
// incoming_rings.h - the rings from peers: taking messages out of them in turn, and giving the
// lines of those back to their senders.
#pragma once
#include <cstddef>
#include <span>
#include <vector>

#include "backends/shm/link.h"
#include "transport/event.h"

namespace heddle::transport::shm {

/// The lane's thread only. Of the links that are here, `in` is set.
class incoming_rings {
 public:
  /// Nothing here needs memory while there are not more than so many links. Throws.
  void reserve(std::size_t links) {
    links_.reserve(links);
    taken_.reserve(links);
  }
  void add(link& from) noexcept { links_.push_back(&from); }
  /// No more is taken from it. What was taken stays until release().
  void remove(const link& from) noexcept { std::erase(links_, &from); }

  [[nodiscard]] bool have_work() const noexcept {
    for (const link* from : links_)
      if (from->in->has_work()) return true;
    return false;
  }
  /// Goes through all rings once, beginning behind the one that was last the last time. A link
  /// whose ring makes no sense becomes corrupt, and on_corrupt(link) is called for it.
  template <class OnCorrupt>
  std::size_t take(std::span<event> out, const OnCorrupt& on_corrupt) noexcept {
    std::size_t count = 0;
    answers_ = false;
    const std::size_t rings = links_.size();
    for (std::size_t i = 0; i < rings && count < out.size(); ++i) {
      if (first_ >= rings) first_ = 0;
      count += take_from(*links_[first_++], out.subspan(count), on_corrupt);
    }
    return count;
  }
  /// There are messages to be released.
  [[nodiscard]] bool hold_messages() const noexcept { return !taken_.empty(); }
  /// Some of the last take() are from a peer to which something was sent since its messages before.
  [[nodiscard]] bool hold_answers() const noexcept { return answers_; }
  /// What was taken is over: its lines go back to the senders, who are woken if they wait for them.
  void release() noexcept {
    for (link* from : taken_) {
      from->in->release();
      if (from->in->control().producer_waits.should_wake(from->how)) [[unlikely]]
        from->wake();
    }
    taken_.clear();
  }

 private:
  template <class OnCorrupt>
  std::size_t take_from(link& from, std::span<event> out, const OnCorrupt& on_corrupt) noexcept {
    std::size_t count = 0;
    auto result = sync::ring_consumer::taken::message;
    std::span<const std::byte> bytes;
    while (count < out.size() &&
           (result = from.in->try_take(bytes)) == sync::ring_consumer::taken::message) {
      out[count++] = {event::kind_t::arrived, status::done, &from, nullptr, bytes};
    }
    if (result == sync::ring_consumer::taken::corrupt) [[unlikely]] {
      from.corrupt = true;
      on_corrupt(from);
    }
    if (from.in->holds_messages()) {
      taken_.push_back(&from);
      if (from.out && from.out->heard()) answers_ = true;
    }
    return count;
  }

  std::vector<link*> links_;
  std::vector<link*> taken_;  // whose ring holds messages of the last take()
  std::size_t first_ = 0;     // where in links_ the next take() begins
  bool answers_ = false;
};

}  // namespace heddle::transport::shm
