// SPDX-License-Identifier: BSD-3-Clause
// Backpressure: full queues, and what is lost when nobody reads them. No depth is assumed.
#include <vector>

#include "stage.h"

namespace conformance {
namespace {

/// More than the deepest queue can hold.
constexpr std::uint64_t beyond_any_depth = 2200000;

/// Posts nops until BUSY. 0: that never came.
std::uint64_t fill_with_nops(vcq& one, std::uint64_t most = beyond_any_depth) {
  for (std::uint64_t posted = 0; posted < most; ++posted) {
    if (utofu_nop(one.hdl(), 0, nullptr) == UTOFU_ERR_BUSY) return posted;
  }
  return 0;
}

/// Takes entries until as many nops as before fit again.
void empty(vcq& one) {
  for (int i = 0; i < 50; ++i) one.next_sent(0.002);
}

/// How many nops fit. It ends empty.
std::uint64_t depth_of(test& t, vcq& one) {
  const std::uint64_t depth = fill_with_nops(one);
  t.require(depth != 0, "the TOQ is never full: the library takes TCQ entries itself");
  empty(one);
  return depth;
}

// 37
void full_toq(test& t) {
  stage s(t, memory::page);
  const std::uint64_t depth = depth_of(t, s.here);
  t.note("the TOQ holds %lu", depth);
  std::uint64_t refused = 0, sum = 0;
  for (std::uint64_t i = 1; i <= 3 * depth + 5; ++i) {
    const auto add = [&] {
      return utofu_armw8(s.here.hdl(), s.far.id, UTOFU_ARMW_OP_ADD, i, s.to(64), 0, 0, nullptr);
    };
    int code = add();
    if (code == UTOFU_ERR_BUSY) {
      ++refused;
      s.here.sweep();
      code = s.here.post(add);
    }
    t.require(code == UTOFU_SUCCESS, "add %lu: %s", i, name_of(code).c_str());
    sum += i;
    if (i % 16 == 0) s.here.next_notice(0);  // what is hidden there is taken with it
  }
  t.expect(refused > 0, "%lu posts, none refused", 3 * depth + 5);
  s.put_now(0, 0, 8, "a put after all");
  const std::uint64_t end = now_ns() + 5000000000u;
  while (s.word(64) != sum && !has_passed(end)) continue;
  t.expect(s.word(64) == sum, "adds of %lu in all make %lu", sum, s.word(64));
}

// 38
void silent_puts(test& t) {
  stage s(t, memory::page);
  const std::uint64_t depth = depth_of(t, s.here);
  std::uint64_t posted = 0;
  const auto put = [&] {
    return utofu_put_piggyback8(s.here.hdl(), s.far.id, posted + 1, s.to(), 8, 0, 0, nullptr);
  };
  while (posted <= depth && put() == UTOFU_SUCCESS) ++posted;
  t.require(posted <= depth, "%lu puts fit a TOQ of %lu: entries nobody asked for free themselves",
            posted, depth);
  t.expect(posted == depth, "%lu puts fill a TOQ that holds %lu nops", posted, depth);
  t.expect(s.here.next_sent(0.2).code == UTOFU_ERR_NOT_FOUND,
           "the TCQ shows what nobody asked for");
  const int code = s.here.post(put);
  t.expect(code == UTOFU_SUCCESS, "after polling the TCQ: %s", name_of(code).c_str());
}

/// Eight puts of the number of their word plus 1, as one batch of descriptors.
struct batch {
  unsigned char bytes[8 * 64];
  std::size_t used = 0;
  explicit batch(stage& s) {
    for (std::uint64_t i = 0; i < 8; ++i) {
      std::size_t size = 64;
      s.t.done(utofu_prepare_put_piggyback8(s.here.hdl(), s.far.id, i + 1, s.to(8 * i), 8, 0, 0,
                                            bytes + used, &size),
               "preparing a put");
      used += size;
    }
  }
};

// 39
void all_or_nothing(test& t) {
  stage s(t, memory::page);
  const std::uint64_t depth = depth_of(t, s.here);
  batch puts(s);
  for (const std::uint64_t room : {7u, 3u, 1u}) {
    for (std::uint64_t i = 0; i < depth - room; ++i)
      t.done(utofu_nop(s.here.hdl(), 0, nullptr), "a nop");
    const int code = utofu_post_toq(s.here.hdl(), puts.bytes, puts.used, nullptr);
    t.require(code == UTOFU_ERR_BUSY, "8 descriptors where %lu fit: %s", room,
              name_of(code).c_str());
    const std::uint64_t left = fill_with_nops(s.here);
    t.expect(left == room, "after the refusal %lu fit, before it %lu", left, room);
    empty(s.here);
    t.expect(s.differs(0, 64, 0) == 64, "some of a refused batch was written");
  }
  t.done(s.here.post([&] { return utofu_post_toq(s.here.hdl(), puts.bytes, puts.used, nullptr); }),
         "the batch later");
  s.put_now(0, 128, 8, "a put after it");
  for (std::uint64_t i = 0; i < 8; ++i)
    t.expect(s.word(8 * i) == i + 1, "word %lu is %lu", i, s.word(8 * i));
}

/// What is left of a process after its MRQ ran over.
void look_at_victim(test& t, peer& victim, const far_vcq& of) {
  if (victim.child()->wait(0.2)) {
    t.note("its process ended: %s", victim.child()->ending().c_str());
    return;
  }
  try {
    const noticed entry = victim.notice(of, 1);
    t.note("its process lives, its VCQ says %s", name_of(entry.code).c_str());
    t.expect(entry.code == UTOFU_ERR_FATAL || entry.code == UTOFU_SUCCESS,
             "a VCQ after the overflow: %s", name_of(entry.code).c_str());
  } catch (const peer_lost& end) {
    t.note("its process ended when it polled: %s", end.what());
  }
}

// 40
void mrq_overflow(test& t) {
  stage s(t, memory::page);
  peer& victim = t.victim();
  const far_vcq target = victim.open(t.tni());
  t.done(target.code, "a VCQ of the victim");
  const std::uint64_t area = victim.allocate(memory::page);
  const far_memory theirs = victim.enroll(target, area, 0, memory::page);
  std::uint64_t posted = 0;
  int code = UTOFU_SUCCESS;
  const std::uint64_t end = now_ns() + std::uint64_t(t.how().watching() * 0.4e9);
  while (posted < beyond_any_depth && code == UTOFU_SUCCESS && !has_passed(end)) {
    if (posted % 256 == 0 && victim.child()->ended()) break;
    code = s.here.post([&] {
      return utofu_put_piggyback8(s.here.hdl(), target.id, posted + 1, theirs.stadd, 8, 0,
                                  rmt_notice, nullptr);
    });
    ++posted;
    if (posted % 8 == 0) s.here.sweep();
  }
  t.note("%lu puts that nobody looked for, the last: %s", posted, name_of(code).c_str());
  look_at_victim(t, victim, target);
}

// 41
void hidden_notices(test& t) {
  stage s(t, memory::page);
  peer& victim = t.victim();
  const far_vcq by = victim.open(t.tni());
  t.done(by.code, "a VCQ of the victim");
  victim.start_flood({by.index, s.far.id, s.to(), beyond_any_depth, 0});
  reply answer;
  if (!victim.finish_or_end(answer, t.how().watching() * 0.6)) {
    victim.child()->wait(0.5);
    t.note("a process that never polls its MRQ: %s", victim.child()->ending().c_str());
    t.expect(victim.child()->ended(), "it hangs");
    return;
  }
  t.note("%lu puts without notices and without polling the MRQ, then %s", answer.values[0],
         name_of(int(answer.code)).c_str());
  t.expect(answer.code != UTOFU_SUCCESS,
           "local completions nobody asked for take no place in the MRQ");
}

}  // namespace

std::vector<test_case> backpressure_tests() {
  return {
      {37, "A full TOQ says BUSY and loses nothing", kind::must, {}, full_toq},
      {38,
       "Puts without notices fill the TOQ until the TCQ is polled",
       kind::must,
       {},
       silent_puts},
      {39,
       "A batch of descriptors is taken whole or not at all",
       kind::reports,
       {},
       all_or_nothing},
      {40,
       "An MRQ that runs over ends its process or its CQ",
       kind::reports,
       {3, true, true},
       mrq_overflow},
      {41,
       "Local completions nobody asked for take their place in the MRQ",
       kind::reports,
       {3, true, true},
       hidden_notices},
  };
}

}  // namespace conformance
