// SPDX-License-Identifier: BSD-3-Clause
// What a process does at length when told: watch memory, add to a word, flood a queue.
#include <sched.h>

#include <algorithm>

#include "servant.h"
#include "stamps.h"

namespace conformance {
namespace {

/// Waits until the word there is `value`. False: not in that time. A device that works when it is
/// called has to be called meanwhile.
bool wait_for(const memory& where, std::size_t offset, std::uint64_t value, std::uint64_t end_ns,
              vcq& called) {
  unsigned looks = 0;
  while (where.word(offset) != value) {
    if (looks % 256 == 0 && has_passed(end_ns)) return false;
    if (looks % 64 == 0) called.sweep();
    breathe(looks);
  }
  return true;
}

/// Are all words of the slot but the last `value`?
bool whole(const memory& where, std::size_t offset, std::size_t bytes, std::uint64_t value) {
  for (std::size_t at = 0; at + 8 < bytes; at += 8) {
    if (where.word(offset + at) != value) return false;
  }
  return true;
}

/// Adds and their answers: at most `window` on their way.
class adder {
 public:
  adder(vcq& with, const request& asked) : with_(with), to_(asked.args[1]), at_(asked.args[2]) {}

  int add() {
    return with_.post([&] {
      return utofu_armw8(with_.hdl(), to_, UTOFU_ARMW_OP_ADD, 1, at_, 0, lcl_notice, nullptr);
    });
  }
  int answer() {
    with_.sweep_sent();
    return with_.next_notice().code;
  }

  static constexpr std::uint64_t window = 8;

 private:
  vcq& with_;
  utofu_vcq_id_t to_;
  utofu_stadd_t at_;
};

}  // namespace

// args: VCQ to give credit with, memory, slots, bytes of a slot, rounds, VCQ and STADD the credit
// goes to, milliseconds to wait for each round, whether a notice says that a slot is written (or
// its last word). Each round all words of a slot become the number of the round; it says so when
// half of the slots are free.
reply servant::watch(const request& asked) {
  vcq& with = vcqs_[asked.args[0]];
  const memory& where = memories_[asked.args[1]];
  const std::uint64_t slots = asked.args[2], bytes = asked.args[3], rounds = asked.args[4];
  const std::uint64_t most_ns = asked.args[7] * 1000000;
  const double seconds = double(asked.args[7]) / 1000;
  reply answer;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    const std::size_t slot = (round - 1) % slots * bytes;
    if (asked.args[8] != 0 && !with.next_notice(seconds).is(UTOFU_MRQ_TYPE_RMT_PUT)) break;
    if (asked.args[8] == 0 && !wait_for(where, slot + bytes - 8, round, now_ns() + most_ns, with))
      break;
    if (!whole(where, slot, bytes, round)) ++answer.values[1];
    answer.values[0] = round;
    if (round % (slots / 2) != 0) continue;
    with.sweep_sent();
    if (asked.args[8] == 0) with.sweep();
    const unsigned long flags = strong | (round == rounds ? lcl_notice : 0);
    answer.code = with.post([&] {
      return utofu_put_piggyback8(with.hdl(), asked.args[5], round, asked.args[6], 8, 0, flags,
                                  nullptr);
    });
  }
  if (answer.values[0] == rounds) with.next_notice(seconds);  // of the last credit
  return answer;
}

// args: memory, offset, words, last round, milliseconds. Reads the words from the last to the first
// until the last one is of the last round: looks, torn words, words older than the one behind them.
reply servant::glance(const request& asked) {
  const memory& where = memories_[asked.args[0]];
  const std::uint64_t words = asked.args[2], last = asked.args[3];
  const std::uint64_t end = now_ns() + asked.args[4] * 1000000;
  reply answer;
  std::uint64_t newest = 0;
  unsigned looks = 0;
  while (newest != last && (looks % 256 != 0 || !has_passed(end))) {
    std::uint64_t behind = 0;
    for (std::uint64_t i = words; i-- > 0;) {
      const std::uint64_t round = round_of(where.word(asked.args[1] + 8 * i));
      if (round > last) ++answer.values[1];
      if (round < behind) ++answer.values[2];
      behind = round;
      if (i == words - 1) newest = round;
    }
    ++answer.values[0];
    if (++looks % 4096 == 0) sched_yield();  // seldom: it is to see changes as they happen
  }
  answer.values[3] = newest;
  return answer;
}

// args: VCQ, VCQ and STADD of the word, count.
reply servant::add(const request& asked) {
  adder adds(vcqs_[asked.args[0]], asked);
  const std::uint64_t count = asked.args[3];
  reply answer;
  std::uint64_t answered = 0;
  for (std::uint64_t i = 0; i < count && answer.code == 0; ++i) {
    answer.code = adds.add();
    if (answer.code == 0 && i - answered >= adder::window) {
      answer.code = adds.answer();
      ++answered;
    }
  }
  while (answered < count && answer.code == 0) {
    answer.code = adds.answer();
    ++answered;
  }
  answer.values[0] = answered;
  return answer;
}

// args: memory, offset, count. The CPU's own atomic adds.
reply servant::cpu_add(const request& asked) {
  auto* const word = reinterpret_cast<std::uint64_t*>(memories_[asked.args[0]].at(asked.args[1]));
  unsigned looks = 0;
  for (std::uint64_t i = 0; i < asked.args[2]; ++i) {
    __atomic_fetch_add(word, 1, __ATOMIC_SEQ_CST);
    breathe(looks);
  }
  return {};
}

// args: VCQ, VCQ and STADD of the word, count, flags. Answers how many it could post; it stops at
// the first refusal other than BUSY, or when the TOQ stays full.
reply servant::flood(const request& asked) {
  vcq& with = vcqs_[asked.args[0]];
  reply answer;
  const std::uint64_t end = now_ns() + 20000000000u;
  while (answer.values[0] < asked.args[3] && answer.code == 0 && !has_passed(end)) {
    const std::uint64_t value = ++answer.values[0];
    const auto put = [&] {
      return utofu_put_piggyback8(with.hdl(), asked.args[1], value, asked.args[2], 8, 0,
                                  asked.args[4], nullptr);
    };
    answer.code = with.post(put, 3);
  }
  if (answer.code != 0) --answer.values[0];
  return answer;
}

}  // namespace conformance
