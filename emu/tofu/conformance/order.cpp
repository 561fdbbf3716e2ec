// SPDX-License-Identifier: BSD-3-Clause
// Order: of bytes and flags, of data and notices, within a stream and between streams.
#include <algorithm>

#include "stage.h"

namespace conformance {
namespace {

/// What is poured into the other end's slots, and how it sees that a slot is written.
struct pouring {
  std::size_t slot_bytes = 128;
  unsigned long flags = 0;
  bool flag_apart = false;  ///< the last word goes in a put of its own
  bool by_notice = false;   ///< not by the last word
  origin from = origin::heap;
};

struct watched {
  std::uint64_t rounds = 0, violations = 0;
};

/// One end writes slots of one number each, the other checks each as soon as it may.
class pour {
 public:
  static constexpr std::uint64_t slots = 8;
  static constexpr std::size_t credit = 3 * memory::page;

  pour(test& t, const pouring& how) : s_(t, 4 * memory::page, 0, how.from), how_(how) {}

  /// `rounds` has to be a multiple of 8. Ends early when nothing has moved for `stall` seconds.
  watched run(std::uint64_t rounds, double stall) {
    s_.mine.set_word(credit, 0);
    swept_before_ = s_.here.swept();
    s_.set(0, slots * how_.slot_bytes, 0);
    s_.there.start(verb::watch,
                   {s_.far.index, s_.far_memory_index, slots, how_.slot_bytes, rounds, s_.here.id(),
                    s_.from(credit), std::uint64_t(stall * 1000), how_.by_notice});
    for (std::uint64_t round = 1; round <= rounds && room_for(round, stall); ++round) send(round);
    const reply answer = await_answer(stall + 10);
    // Nothing of this run may arrive in the next.
    if (answer.values[0] == rounds) room_for(rounds + slots, stall);
    s_.here.sweep();
    return {answer.values[0], answer.values[1]};
  }

 private:
  /// A device that works when it is called has to be called meanwhile.
  reply await_answer(double seconds) {
    reply answer;
    const std::uint64_t end = now_ns() + std::uint64_t(seconds * 1e9);
    while (!s_.there.finish_or_end(answer, 0.0005)) {
      s_.here.sweep();
      s_.t.require(!has_passed(end), "the other end does not answer");
    }
    return answer;
  }

  /// Has the other end seen what lay in the slot, and the device read what we would overwrite?
  [[nodiscard]] bool is_free(std::uint64_t round) const {
    const std::uint64_t puts = how_.flag_apart ? 2 : 1;
    const std::uint64_t read = (s_.here.swept() - swept_before_) / puts;
    return s_.mine.word(credit) + slots >= round && read + slots >= round;
  }

  bool room_for(std::uint64_t round, double stall) {
    if (is_free(round)) return true;
    const std::uint64_t end = now_ns() + std::uint64_t(stall * 1e9);
    unsigned looks = 0;
    while (!is_free(round)) {
      s_.here.sweep();  // a device that works when it is called has to be called
      breathe(looks);
      if (looks % 256 == 0 && has_passed(end)) return false;
    }
    return true;
  }

  void send(std::uint64_t round) {
    const std::size_t slot = (round - 1) % slots * how_.slot_bytes, last = how_.slot_bytes - 8;
    for (std::size_t at = 0; at < how_.slot_bytes; at += 8) s_.mine.set_word(slot + at, round);
    const unsigned long flags = how_.flags | tcq_notice;
    if (how_.flag_apart) {
      s_.t.done(s_.put(slot, slot, last, flags), "the put of the bytes");
      s_.t.done(s_.put_word(round, slot + last, flags), "the put of the flag");
    } else {
      s_.t.done(s_.put(slot, slot, how_.slot_bytes, flags), "the put");
    }
    if (round % slots == 0) s_.here.sweep();
  }

  stage s_;
  pouring how_;
  std::uint64_t swept_before_ = 0;
};

/// As many rounds as fit the time, 10^6 at most, in runs that get longer as long as they are short:
/// a machine that gets slower meanwhile does fewer.
watched pour_for(test& t, const pouring& how, double seconds) {
  pour stream(t, how);
  watched sum;
  const auto end = now_ns() + std::uint64_t(seconds * 1e9);
  for (std::uint64_t rounds = 200; sum.rounds < 1000000 && (sum.rounds == 0 || !has_passed(end));) {
    const std::uint64_t began = now_ns();
    const watched one = stream.run(rounds, patience);
    t.require(one.rounds == rounds, "the stream stalls after round %lu of %lu", one.rounds, rounds);
    sum = {sum.rounds + one.rounds, sum.violations + one.violations};
    if (!has_passed(began + std::uint64_t(seconds * 1e9 / 16))) rounds *= 2;
  }
  return sum;
}

void flag_last(test& t, origin from, const char* kind_of_memory) {
  const double budget = t.how().watching() / 16;
  const watched one = pour_for(t, {1024, strong, false, false, from}, budget);
  t.expect(one.violations == 0, "%s: the last word of one put was seen first %lu times",
           kind_of_memory, one.violations);
  const watched two = pour_for(t, {4096 + 8, strong, true, false, from}, budget);
  t.expect(two.violations == 0, "%s: a flag put behind the data was seen first %lu times",
           kind_of_memory, two.violations);
  t.note("%s: %lu rounds with one put, %lu with two", kind_of_memory, one.rounds, two.rounds);
}

// 42
void flag_behind_data(test& t) {
  flag_last(t, origin::heap, "private memory");
  flag_last(t, origin::shared, "shared memory");
}

// 43
void without_strong_order(test& t) {
  const watched seen = pour_for(t, {8192, 0}, t.how().watching() / 8);
  t.note("%lu of %lu times the last word was there before the others", seen.violations,
         seen.rounds);
  if (t.is_chaos()) t.expect(seen.violations > 0, "chaos shows no violation");
}

// 44
void notice_behind_data(test& t) {
  const watched seen = pour_for(t, {8192, rmt_notice, false, true}, t.how().watching() / 8);
  t.note("%lu rounds", seen.rounds);
  t.expect(seen.violations == 0, "a notice came before its data %lu times", seen.violations);
}

constexpr std::uint64_t batch = 24;

/// Puts of mixed sizes with edata 0, 1, 2 ...; local notices have to come in that order.
void post_numbered(stage& s, std::uint64_t first) {
  for (std::uint64_t i = first; i < first + batch; ++i) {
    const std::size_t bytes = 1 + i * i * 131 % 5000;
    s.t.done(s.put(0, 8192, bytes, lcl_notice | rmt_notice, i & 255), "a put");
  }
  for (std::uint64_t i = first; i < first + batch; ++i) {
    const std::uint64_t seen = s.await(UTOFU_MRQ_TYPE_LCL_PUT, "a put").edata;
    s.t.require(seen == (i & 255), "local notice %lu has edata %lu", i, seen);
  }
  s.here.sweep_sent();
}

// 45
void fifo(test& t) {
  stage s(t, memory::page);
  for (std::uint64_t first = 0; first < 64 * batch; first += batch) {
    post_numbered(s, first);
    for (std::uint64_t i = first; i < first + batch; ++i) {
      const noticed entry = s.there.notice(s.far);
      t.require(entry.is(UTOFU_MRQ_TYPE_RMT_PUT), "remote notice %lu: %s", i,
                name_of(entry.code).c_str());
      t.require(entry.notice.edata == (i & 255), "remote notice %lu has edata %lu", i,
                entry.notice.edata);
    }
  }
}

/// Puts from two VCQs in turn. Did they arrive in turn?
bool in_turn(stage& s, vcq& second, const registration& source) {
  for (std::uint64_t i = 0; i < batch; ++i) {
    vcq& by = i % 2 ? second : s.here;
    const utofu_stadd_t from = i % 2 ? source.stadd() : s.from();
    s.t.done(by.post([&] {
      return utofu_put(by.hdl(), s.far.id, from, s.to(), 1 + i * 331 % 3000, i, rmt_notice,
                       nullptr);
    }),
             "a put");
  }
  // Both are polled: a device that works when it is called has to be called.
  const std::uint64_t end = now_ns() + 50000000;
  while (!has_passed(end) && s.there.ask(verb::unread, {s.far.index}).values[1] < batch) {
    s.here.sweep();
    second.sweep();
  }
  const tally seen = s.there.count_notices(s.far, batch, 2);
  s.here.sweep();
  second.sweep();
  s.t.require(seen.notices == batch, "%lu of %lu puts arrived", seen.notices, batch);
  return seen.disorder == none;
}

// 46
void between_streams(test& t) {
  stage s(t, memory::page);
  vcq second(t.tni(), UTOFU_VCQ_FLAG_EXCLUSIVE);
  t.done(second.made(), "a second VCQ");
  const registration source(second, s.mine.at(), memory::page);
  int disordered = 0;
  for (int round = 0; round < 100; ++round) disordered += !in_turn(s, second, source);
  t.note("puts from two VCQs arrived out of turn in %d of 100 batches", disordered);
  if (t.is_chaos()) t.expect(disordered > 0, "chaos keeps the order between streams");
}

}  // namespace

std::vector<test_case> order_tests() {
  return {
      {42,
       "With STRONG_ORDER a flag is never seen before its data",
       kind::must,
       {2},
       flag_behind_data},
      {43,
       "Without STRONG_ORDER a flag may be seen before its data",
       kind::reports,
       {2},
       without_strong_order},
      {44, "A notice comes after the data it stands for", kind::must, {2}, notice_behind_data},
      {45, "Within a stream notices come in the order of posting", kind::must, {}, fifo},
      {46, "Between streams there is no order", kind::reports, {}, between_streams},
  };
}

}  // namespace conformance
