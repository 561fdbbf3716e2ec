// SPDX-License-Identifier: BSD-3-Clause
// What a user of uTofu may want to rely on although no source says so.
#include "stage.h"
#include "stamps.h"

namespace conformance {
namespace {

constexpr std::size_t page = memory::page;

/// Entry i of the TCQ has to be the i-th operation's.
void check_turn(test& t, vcq& one, std::uintptr_t i) {
  const sent entry = one.next_sent();
  t.require(entry.code == UTOFU_SUCCESS, "entry %lu: %s", i, name_of(entry.code).c_str());
  const auto seen = reinterpret_cast<std::uintptr_t>(entry.cbdata);
  t.require(seen == i, "entry %lu is operation %lu's", i, seen);
}

// 57
void tcq_in_order(test& t) {
  stage s(t, 20 * page);
  const tni_list tnis = all_tnis();
  const far_vcq elsewhere = s.there.open(tnis.ids[tnis.count - 1]);
  t.done(elsewhere.code, "a VCQ on another TNI");
  const far_memory theirs = s.there.enroll(elsewhere, s.far_memory_index, 0, page);
  for (std::uintptr_t first = 0; first < 600; first += 6) {
    for (std::uintptr_t i = first; i < first + 6; ++i) {
      void* const mark = reinterpret_cast<void*>(i);
      int code = UTOFU_SUCCESS;
      if (i % 3 == 0) code = s.put(0, 0, i % 2 ? 8 : 20 * page, tcq_notice, 0, mark);
      if (i % 3 == 1) code = s.get(0, 0, 1 + i * 71 % page, tcq_notice, 0, mark);
      if (i % 3 == 2) {
        code = utofu_put_piggyback8(s.here.hdl(), elsewhere.id, i, theirs.stadd, 8, 0, tcq_notice,
                                    mark);
      }
      t.done(code, "an operation");
    }
    for (std::uintptr_t i = first; i < first + 6; ++i) check_turn(t, s.here, i);
    s.here.sweep();
  }
}

/// Lets the victim's threads do `what` beside its posts and says how that went.
void crowd(test& t, std::uint64_t what, const char* deed) {
  stage s(t, page);
  peer& victim = t.victim();
  const far_vcq by = victim.open(t.tni(), UTOFU_VCQ_FLAG_EXCLUSIVE);
  t.done(by.code, "a VCQ of the victim");
  victim.start(verb::crowd, {by.index, s.far.id, s.to(), what, 2000});
  reply answer;
  if (!victim.finish_or_end(answer, 15)) {
    victim.child()->wait(2);
    t.require(false, "its process: %s", victim.child()->ending().c_str());
  }
  t.note("%lu posts beside %lu %s", answer.values[0], answer.values[1], deed);
  t.expect(answer.values[0] > 0 && answer.values[1] > 0, "one side did not get on");
  t.expect(answer.values[2] == 0, "%lu of them went wrong", answer.values[2]);
}

// 58
void prepare_beside_posts(test& t) {
  crowd(t, 0, "descriptors prepared by two more threads");
}

// 59
void register_beside_posts(test& t) {
  crowd(t, 1, "registrations by two more threads");
}

/// Puts `words` stamps of each round to one place while the other end looks at it.
reply glance(stage& s, std::size_t offset, std::uint64_t words, unsigned long flags) {
  constexpr std::uint64_t last = 1u << 30;
  const double seconds = s.t.how().watching() / 32;
  const auto put = [&](std::uint64_t round) {
    std::uint64_t data[4];
    for (std::uint64_t& word : data) word = stamp(round);
    s.t.done(s.put_data(data, offset, 8 * words, flags), "a piggyback put");
    if (round % 8 == 0) s.here.sweep();
  };
  s.set(offset, 8 * words, 0);
  s.there.start(verb::glance,
                {s.far_memory_index, offset, words, last, std::uint64_t(20 * seconds * 1000)});
  const std::uint64_t end = now_ns() + std::uint64_t(seconds * 1e9);
  std::uint64_t rounds = 1;
  for (; !has_passed(end); ++rounds) put(rounds);
  // Without STRONG_ORDER an earlier put could come last, were it not there yet.
  s.put_now(0, page - 64, 8, "a put after the others");
  put(last);
  s.put_now(0, page - 64, 8, "a put after all");
  const reply seen = s.there.finish(20 * seconds + 10);
  s.t.require(seen.values[3] == last, "the last of %lu rounds was not seen", rounds);
  s.t.note("%lu puts, %lu looks", rounds, seen.values[0]);
  return seen;
}

/// At the start of a line and where a line ends in the middle.
void glance_all(test& t, std::uint64_t words, unsigned long flags, std::size_t across) {
  for (const origin from : {origin::heap, origin::shared}) {
    stage s(t, page, 0, from);
    for (const std::size_t offset : {std::size_t{1024}, across}) {
      const reply seen = glance(s, offset, words, flags);
      t.expect(seen.values[1] == 0, "offset %zu: a word was torn %lu times", offset,
               seen.values[1]);
      t.expect(seen.values[2] == 0,
               "offset %zu: a word was seen before the one before it %lu times", offset,
               seen.values[2]);
    }
  }
}

// 60
void whole_words(test& t) {
  glance_all(t, 1, 0, 2048 - 8);
}

// 61
void ascending_words(test& t) {
  glance_all(t, 4, strong, 2048 - 16);
}

// 62
void errors_without_notice(test& t) {
  stage s(t, page);
  utofu_stadd_t bad_there = 0, bad_here = 0;
  t.done(utofu_query_stadd(s.far.id, 202, &bad_there), "computing a STADD");
  t.done(utofu_query_stadd(s.here.id(), 202, &bad_here), "computing a STADD");
  const auto put = [&](utofu_stadd_t from, utofu_stadd_t to) {
    t.done(
        s.here.post([&] { return utofu_put(s.here.hdl(), s.far.id, from, to, 8, 0, 0, nullptr); }),
        "a put");
  };
  put(s.from(), bad_there);
  // The TCQ is polled meanwhile: a device that works when it is called has to be called.
  t.note("the TCQ, asked about an error there: %s", name_of(s.here.next_sent(0.05).code).c_str());
  const int there = s.here.next_notice(2).code;
  t.expect(there != UTOFU_ERR_NOT_FOUND && there != UTOFU_SUCCESS,
           "a bad target without LOCAL_MRQ_NOTICE: %s", name_of(there).c_str());
  put(bad_here, s.to());
  const int here = s.here.next_sent(2).code;
  t.expect(here != UTOFU_ERR_NOT_FOUND && here != UTOFU_SUCCESS,
           "a bad source without TCQ_NOTICE: %s", name_of(here).c_str());
}

/// Another way to look at the other end's memory: gets by a VCQ on another TNI.
class onlooker {
 public:
  explicit onlooker(stage& s)
      : s_(s), eye_(all_tnis().ids[all_tnis().count - 1], UTOFU_VCQ_FLAG_EXCLUSIVE), seen_(page) {
    s.t.done(eye_.made(), "a VCQ on another TNI");
    into_ = registration(eye_, seen_.at(), page);
    far_ = s.there.open(utofu_tni_id_t(eye_.tni()), UTOFU_VCQ_FLAG_EXCLUSIVE);
    s.t.done(far_.code, "one at the other end");
    theirs_ = s.there.enroll(far_, s.far_memory_index, 0, page);
  }

  std::uint64_t word(std::size_t offset) {
    s_.t.done(eye_.post([&] {
      return utofu_get(eye_.hdl(), far_.id, into_.stadd(), theirs_.stadd + offset, 8, 0, lcl_notice,
                       nullptr);
    }),
              "a get");
    s_.t.require(eye_.next_notice().is(UTOFU_MRQ_TYPE_LCL_GET), "a get brought nothing");
    eye_.sweep_sent();
    return seen_.word(0);
  }

 private:
  stage& s_;
  vcq eye_;
  memory seen_;
  registration into_;
  far_vcq far_;
  far_memory theirs_;
};

// 63
void placed_at_notice(test& t) {
  stage s(t, page);
  onlooker look(s);
  constexpr std::uint64_t rounds = 1000;
  constexpr std::size_t places[] = {4088, 0, 2040};
  std::uint64_t early = 0;
  for (std::uint64_t round = 1; round <= rounds; ++round) {
    for (const std::size_t at : places) s.mine.set_word(at, round);
    s.put_now(0, 0, 4096, "a put");
    s.here.sweep_sent();
    for (const std::size_t at : places) early += look.word(at) != round;
  }
  t.expect(early == 0, "in %lu rounds %lu words were not there at LCL_PUT", rounds, early);
}

// 64
void flushed_by_the_last(test& t) {
  stage s(t, page);
  onlooker look(s);
  std::uint64_t early = 0;
  for (std::uint64_t round = 1; round <= 500; ++round) {
    for (std::uint64_t i = 0; i < 6; ++i) {
      s.mine.set_word(1024 * i + 1000, round);
      t.done(s.put(1024 * i, 1024 * i, 1008, strong), "a put");
    }
    t.done(s.put_word(round, 8192, strong | lcl_notice), "the last put");
    s.await(UTOFU_MRQ_TYPE_LCL_PUT, "the last put");
    s.here.sweep_sent();
    for (std::uint64_t i = 6; i-- > 0;) early += look.word(1024 * i + 1000) != round;
  }
  t.expect(early == 0, "%lu of 3000 puts were not there at the notice of a later one", early);
}

// 65
void cpu_and_device_adds(test& t) {
  stage s(t, page);
  constexpr std::uint64_t adds = 5000;
  s.there.start(verb::cpu_add, {s.far_memory_index, 64, adds});
  for (std::uint64_t i = 0; i < adds; ++i) s.old_value(s.add(1, 64, lcl_notice), "an add");
  s.there.finish(30);
  t.note("%lu adds of the CPU and %lu of the device make %lu", adds, adds, s.word(64));
}

// 66
void gaps(test& t) {
  stage s(t, page);
  const auto h = s.here.hdl();
  s.mine.fill(0, 5000, 66);
  t.done(s.here.post([&] {
    return utofu_put_gap(h, s.far.id, s.from(), s.to(), 5000, 0, lcl_notice, 1024, 10, nullptr);
  }),
         "a put with gaps");
  s.await(UTOFU_MRQ_TYPE_LCL_PUT, "a put with gaps");
  t.expect(s.mismatch(0, 5000, 66) == 5000, "a put with gaps brings wrong bytes");
  s.mine.set(0, 5000, 0);
  t.done(s.here.post([&] {
    return utofu_get_gap(h, s.far.id, s.from(), s.to(), 5000, 0, lcl_notice, 1024, 10, nullptr);
  }),
         "a get with gaps");
  s.await(UTOFU_MRQ_TYPE_LCL_GET, "a get with gaps");
  t.expect(s.mine.mismatch(0, 5000, 66) == 5000, "a get with gaps brings wrong bytes");
  const int code = s.here.post(
      [&] { return utofu_put_gap(h, s.far.id, s.from(), s.to(), 64, 0, 0, 100000, 300, nullptr); });
  t.note("an mtu of 100000 and a gap of 300: %s", name_of(code).c_str());
}

// 68
void harmless_flags(test& t) {
  stage s(t, page);
  s.mine.fill(0, 10, 68);
  for (const unsigned long flag :
       {UTOFU_ONESIDED_FLAG_PACKET_RESPONSE, UTOFU_ONESIDED_FLAG_CACHE_INJECTION,
        UTOFU_ONESIDED_FLAG_PADDING}) {
    s.set(0, 1024, 0x11);
    t.done(s.put(0, 512, 10, flag | lcl_notice), "a put");
    s.await(UTOFU_MRQ_TYPE_LCL_PUT, "a put");
    t.expect(s.mismatch(512, 10, 68) == 10, "with flag %#lx wrong bytes arrive", flag);
    t.expect(s.differs(0, 512, 0x11) == 512, "flag %#lx: bytes before the put changed", flag);
    t.expect(s.differs(768, 256, 0x11) == 256, "flag %#lx: bytes of the next line changed", flag);
    const std::size_t kept = s.differs(522, 246, 0x11);
    t.presume(kept == 246 || flag == UTOFU_ONESIDED_FLAG_PADDING,
              "flag %#lx writes behind the data", flag);
    if (flag == UTOFU_ONESIDED_FLAG_PADDING)
      t.note("PADDING %s",
             kept == 246 ? "leaves the line as it is" : "overwrites the rest of the line");
  }
}

}  // namespace

std::vector<test_case> assumption_tests() {
  return {
      {57, "TCQ entries come in the order of posting", kind::reports, {}, tcq_in_order},
      {58,
       "Descriptors can be prepared by several threads beside posts",
       kind::reports,
       {3, true, true},
       prepare_beside_posts},
      {59,
       "Memory can be registered by other threads beside posts",
       kind::reports,
       {3, true, true},
       register_beside_posts},
      {60, "A piggyback put of 8 bytes is seen whole", kind::reports, {2}, whole_words},
      {61,
       "A piggyback put of 32 bytes with STRONG_ORDER is seen in order of addresses",
       kind::reports,
       {2},
       ascending_words},
      {62,
       "Errors are shown although no notice was asked for",
       kind::reports,
       {},
       errors_without_notice},
      {63, "LCL_PUT means that the data is in place", kind::reports, {}, placed_at_notice},
      {64,
       "The notice of a STRONG_ORDER put covers the puts before it",
       kind::reports,
       {},
       flushed_by_the_last},
      {65,
       "What adds of the CPU and the device make together",
       kind::reports,
       {2},
       cpu_and_device_adds},
      {66,
       "Puts and gets with gaps between packets bring the same bytes",
       kind::must,
       {1, false, true},
       gaps},
      {68,
       "Flags for packets, caches and padding touch one line at most",
       kind::must,
       {},
       harmless_flags},
  };
}

}  // namespace conformance
