// SPDX-License-Identifier: BSD-3-Clause
// port_matching_test.cpp - what a peer sends, and receives with and without a wildcard, in every
// short sequence over the real code: messages that are posted for or unexpected, whole or
// announced, read early or late, and taken out of matching. Each receive gets the message that the
// rules say, and no other.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "support/port_order_fixture.h"
#include "support/scale.h"

namespace heddle::protocols {
namespace {

using transport::event;
using transport::op;

constexpr heddle::tag one_tag = 2'001, other_tag = 2'002;
constexpr std::size_t small_bytes = 1, large_announced = 5'000;  // more than the wire's messages

/// What came, and what became of a receive.
struct came {
  std::uint8_t number = 0;  ///< the first byte of its data
  heddle::tag tag = 0;
  std::int16_t lane = 0;
  std::size_t bytes = 0;
  bool announced = false;
};
struct asked {
  tag_match match{0};
  bool takes = false;  ///< out of matching, to be received later
  std::optional<came> due;
  // As the code under test has it.
  std::vector<std::byte> into = std::vector<std::byte>(large_announced);
  detail::taken_message place{};
  int ends = 0, taken = 0;
  outcome what{};

  static void end(void* owner, std::uint64_t, const outcome& what) noexcept {
    auto& self = *static_cast<asked*>(owner);
    ++self.ends;
    self.what = what;
  }
  static void take(void* owner, std::uint64_t, const outcome& what) noexcept {
    auto& self = *static_cast<asked*>(owner);
    ++self.taken;
    self.what = what;
  }
  [[nodiscard]] bool got(const came& m) const {
    return ends == 1 && taken == (takes ? 1 : 0) && what.code == status::done &&
           what.tag == m.tag && what.lane == m.lane && what.peer == 1 && what.bytes == m.bytes &&
           std::to_integer<std::uint8_t>(into[0]) == m.number;
  }
};

/// The rules: of the receives that accept a message the oldest gets it, and of the messages that a
/// receive accepts the first that came, so messages of one pair of lanes match in order.
class rules {
 public:
  void arrives(const came& m) {
    const auto found = std::ranges::find_if(
        waiting_, [&](const asked* each) { return each->match.accepts(m.tag); });
    if (found == waiting_.end()) return unexpected_.push_back(m);
    (*found)->due = m;
    waiting_.erase(found);
  }
  void asks(asked& a) {
    const auto found = std::ranges::find_if(
        unexpected_, [&](const came& each) { return a.match.accepts(each.tag); });
    if (found == unexpected_.end()) return waiting_.push_back(&a);
    a.due = *found;
    unexpected_.erase(found);
  }
  [[nodiscard]] std::size_t kept_whole() const {
    return static_cast<std::size_t>(
        std::ranges::count(unexpected_, false, [](const came& each) { return each.announced; }));
  }

 private:
  std::deque<came> unexpected_;
  std::deque<asked*> waiting_;
};

class PortMatching : public PortOrder {
 protected:
  PortMatching() {
    wire_.answer = status::posted;  // reads take their time
    config_.credit_bytes = 100 * credit::cost_of(small_bytes);
  }
  void begin() override {
    rules_ = {};
    receives_.clear();
    PortOrder::begin();
    next_ = 1;
  }
  void play(char step) override {
    switch (step) {
      case 'x':  // messages come whole, of one tag,
        return comes(one_tag, 0);
      case 'y':  // of another,
        return comes(other_tag, 0);
      case 'z':  // of the one, but from another lane of the peer,
        return comes(one_tag, 1);
      case 'n':  // and announced: a small one,
        return is_announced(small_bytes);
      case 'l':  // and a large one
        return is_announced(large_announced);
      case 'd':  // the wire has read the first of what it reads
        return ends_read(true);
      case 'D':  // or the last
        return ends_read(false);
      case 'r':
        return ask(1, one_tag, false);
      case 'w':
        return ask(any_source, any_tag, false);
      case 'u':  // takes a message out of matching, to receive it later
        return ask(any_source, any_tag, true);
      case 'v':  // receives what was taken
        return receive_taken();
      default:
        PortOrder::play(step);
        batch_.run();
    }
  }
  /// Announced, where it has no credit for it.
  void comes(heddle::tag t, std::int16_t lane) {
    const bool covered = (kept_whole() + 1) * credit::cost_of(small_bytes) <= config_.credit_bytes;
    if (!covered) return is_announced(small_bytes);
    message m;
    m.kind = message_kind::tag_eager;
    m.word = t;
    const came what{next_++, t, lane, small_bytes};
    rules_.arrives(what);
    arrives(m, lane, {std::byte{what.number}});
    batch_.run();
  }
  /// Messages here that use the peer's credit.
  [[nodiscard]] std::size_t kept_whole() const {
    const auto taken = std::ranges::count_if(
        receives_, [](const asked& a) { return a.place.message != nullptr && !a.due->announced; });
    return rules_.kept_whole() + static_cast<std::size_t>(taken);
  }
  void is_announced(std::size_t bytes) {
    const came what{next_++, one_tag, 0, bytes, true};
    message m;
    m.kind = message_kind::tag_rts;
    m.word = what.tag;
    m.slot = m.generation = 1;
    m.offset = what.number;
    m.bytes = bytes;
    m.id = what.number;
    rules_.arrives(what);
    arrives(m);
    batch_.run();
  }
  /// What is read is the number of the message.
  void ends_read(bool first) {
    if (wire_.under_way.empty()) return;
    const auto at = first ? wire_.under_way.begin() : wire_.under_way.end() - 1;
    op& o = **at;
    wire_.under_way.erase(at);
    o.memory[0] = static_cast<std::byte>(o.offset);
    wire_.events.push_back({event::kind_t::ended, status::done, wire_.reach(1), &o, {}});
    port_->progress(batch_);
    batch_.run();
  }
  void ask(rank from, tag_match match, bool takes) {
    asked& a = receives_.emplace_back();
    a.match = match;
    a.takes = takes;
    rules_.asks(a);
    const command c = takes ? match_command(from, match, a.place, {&asked::take, &a, 0})
                            : receive_command(from, match, a.into, {&asked::end, &a, 0});
    EXPECT_EQ(port_->dispatch().execute(c, batch_), status::posted);
    batch_.run();
  }
  /// The last one first: what is out of matching has no order.
  void receive_taken() {
    for (auto a = receives_.rbegin(); a != receives_.rend(); ++a) {
      if (a->place.message == nullptr) continue;
      unexpected& m = *std::exchange(a->place.message, nullptr);
      (void)port_->dispatch().execute(receive_taken_command(m, a->into, {&asked::end, &*a, 0}),
                                      batch_);
      batch_.run();
      return;
    }
  }
  void end_reads() override {
    for (std::size_t i = 0; i < receives_.size(); ++i) receive_taken();
    while (!wire_.under_way.empty()) ends_read(false);
  }
  [[nodiscard]] bool is_received() override {
    return std::ranges::all_of(
        receives_, [](const asked& a) { return a.due ? a.got(*a.due) : a.ends + a.taken == 0; });
  }
  [[nodiscard]] bool is_closed() override {
    return std::ranges::all_of(receives_, [](const asked& a) {
      return a.due ? a.got(*a.due) : a.ends + a.taken == 1 && a.what.code == status::closed;
    });
  }

  rules rules_;
  std::deque<asked> receives_;
  std::uint8_t next_ = 1;
};

// The first messages of two lanes come in some order, and that one is kept here as well.
TEST_F(PortMatching, I13HoldsAfterEveryShortSequence) {
  try_all(test::sanitized ? 4 : 5, "xyznlrwudD");
  EXPECT_EQ(tried_, test::sanitized ? 11'111u : 111'111u);  // 1 + 10 + ... + 10^4, or 10^5
}

TEST_F(PortMatching, I13HoldsWhereMessagesAreTakenAndReceivedInAnyOrder) {
  try_all(test::sanitized ? 5 : 6, "xnluvrd");
  EXPECT_EQ(tried_, test::sanitized ? 19'608u : 137'257u);  // 1 + 7 + ... + 7^5, or 7^6
}

// What receives give back, and tell, goes over the same wire as the program's messages.
TEST_F(PortMatching, I5HoldsBesideWhatIsSentOverAWireThatIsFull) {
  config_.credit_bytes = two_messages;
  try_all(test::sanitized ? 4 : 5, "sb0+cxnrwd");
  EXPECT_EQ(tried_, test::sanitized ? 11'111u : 111'111u);
}

}  // namespace
}  // namespace heddle::protocols
