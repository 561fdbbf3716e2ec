// SPDX-License-Identifier: BSD-3-Clause
// Completion: which queue shows what, and when.
#include <vector>

#include "stage.h"

namespace conformance {
namespace {

constexpr double a_moment = 0.02;

/// Notices of one operation: how many each queue showed.
struct shown {
  int tcq = 0, local = 0, remote = 0;
};

/// Waits for what is due, then a moment for what is not.
shown count_shown(stage& s, unsigned long flags) {
  shown count;
  while (s.here.next_sent(flags & tcq_notice && count.tcq == 0 ? patience : a_moment).code == 0)
    ++count.tcq;
  while (s.here.next_notice(flags & lcl_notice && count.local == 0 ? patience : a_moment).code == 0)
    ++count.local;
  while (
      s.there.notice(s.far, flags & rmt_notice && count.remote == 0 ? patience : a_moment).code ==
      0)
    ++count.remote;
  return count;
}

int post_kind(stage& s, int kind, unsigned long flags) {
  switch (kind) {
    case 0:
      return s.put(0, 0, 64, flags);
    case 1:
      return s.put_word(1, 0, flags);
    case 2:
      return s.get(0, 0, 64, flags);
    default:
      return s.add(1, 0, flags);
  }
}

// 30
void flag_matrix(test& t) {
  stage s(t, memory::page);
  const char* const names[] = {"put", "piggyback8", "get", "armw8"};
  for (int kind = 0; kind < 4; ++kind) {
    for (unsigned combination = 0; combination < 8; ++combination) {
      const unsigned long flags = (combination & 1 ? tcq_notice : 0) |
                                  (combination & 2 ? lcl_notice : 0) |
                                  (combination & 4 ? rmt_notice : 0);
      t.done(post_kind(s, kind, flags), names[kind]);
      const shown seen = count_shown(s, flags);
      const bool exact = seen.tcq == int(combination & 1) &&
                         seen.local == int(combination >> 1 & 1) &&
                         seen.remote == int(combination >> 2);
      t.expect(exact, "%s with flags %#lx: %d in the TCQ, %d local and %d remote notices",
               names[kind], flags, seen.tcq, seen.local, seen.remote);
    }
  }
}

// 31
void cbdata(test& t) {
  stage s(t, memory::page);
  std::vector<void*> marks = {nullptr, &t, reinterpret_cast<void*>(~std::uintptr_t{0})};
  for (std::uintptr_t i = 1; i < 8; ++i) marks.push_back(reinterpret_cast<void*>(i << (8 * i)));
  for (void* mark : marks) t.done(s.put(0, 0, 8, tcq_notice, 0, mark), "a put");
  for (std::size_t i = 0; i < marks.size(); ++i) {
    const sent entry = s.here.next_sent();
    t.require(entry.code == UTOFU_SUCCESS, "entry %zu: %s", i, name_of(entry.code).c_str());
    t.expect(entry.cbdata == marks[i], "entry %zu has %p, not %p", i, entry.cbdata, marks[i]);
  }
}

std::size_t unread_sent(const vcq& of) {
  std::size_t count = 0;
  utofu_query_num_unread_tcq(of.hdl(), &count);
  return count;
}

std::size_t unread_notices(const vcq& of) {
  std::size_t count = 0;
  utofu_query_num_unread_mrq(of.hdl(), &count);
  return count;
}

/// Asks until the number is `want` or time is over.
template <class Count>
std::size_t until(std::size_t want, Count count) {
  const std::uint64_t end = now_ns() + 3000000000u;
  while (count() != want && !has_passed(end)) continue;
  return count();
}

// 34
void unread(test& t) {
  stage s(t, memory::page);
  t.expect(unread_sent(s.here) == 0 && unread_notices(s.here) == 0,
           "a new VCQ has something to read");
  for (int i = 0; i < 5; ++i) t.done(s.put(0, 0, 8, tcq_notice | lcl_notice), "a put");
  const std::size_t tcq = until(5, [&] { return unread_sent(s.here); });
  const std::size_t mrq = until(5, [&] { return unread_notices(s.here); });
  t.require(tcq == 5 && mrq == 5, "of 5 puts %zu TCQ and %zu MRQ entries are unread", tcq, mrq);
  t.require(s.here.next_sent().code == 0 && s.here.next_notice().code == 0, "they cannot be read");
  t.expect(unread_sent(s.here) == 4 && unread_notices(s.here) == 4, "reading does not count down");
  s.here.sweep();
  t.expect(unread_sent(s.here) == 0 && unread_notices(s.here) == 0,
           "some are left after reading all");
  t.done(s.put(0, 0, 8, 0), "a put without notices");
  s.put_now(0, 0, 8, "a put");
  t.note("entries nobody asked for count: %zu in the TCQ, %zu in the MRQ", unread_sent(s.here),
         unread_notices(s.here));
}

// 35
void get_is_not_sent(test& t) {
  constexpr std::size_t bytes = 1 << 20;
  stage s(t, bytes);
  int early = 0;
  for (int round = 0; round < 20; ++round) {
    s.fill(bytes - 64, 64, std::uint64_t(round));
    t.done(s.get(0, 0, bytes, tcq_notice | lcl_notice), "a get");
    t.require(s.here.next_sent().code == UTOFU_SUCCESS, "a get has no TCQ entry");
    early += s.mine.mismatch(bytes - 64, 64, std::uint64_t(round)) != 64;
    s.await(UTOFU_MRQ_TYPE_LCL_GET, "a get");
    t.expect(s.mine.mismatch(bytes - 64, 64, std::uint64_t(round)) == 64,
             "round %d: the notice came before the data", round);
  }
  t.note("%d of 20 gets had no data yet when the TCQ showed them", early);
}

// 36
void sleeping_target(test& t) {
  stage s(t, memory::page);
  s.mine.fill(0, 4096, 36);
  s.there.rest(1.5);
  const std::uint64_t began = now_ns();
  s.put_now(0, 0, 4096, "a put to a sleeper");
  s.mine.set(0, 4096, 0);
  s.get_now(0, 0, 4096, "a get from a sleeper");
  const std::uint64_t old = s.old_value(s.add(5, 8192, lcl_notice), "an add at a sleeper");
  const double took = double(now_ns() - began) / 1e9;
  t.expect(s.mine.mismatch(0, 4096, 36) == 4096, "the get brought something else");
  t.expect(old == 0, "the add saw %lu", old);
  t.expect(took < 1.2, "put, get and add took %.1f s: they waited for the target to wake up", took);
}

}  // namespace

std::vector<test_case> completion_tests() {
  return {
      {30, "Each flag shows its notice and no other", kind::must, {}, flag_matrix},
      {31, "cbdata comes back as it was given", kind::must, {}, cbdata},
      {34, "Unread entries are counted", kind::must, {}, unread},
      {35,
       "The TCQ shows a get before its data is there, the MRQ after",
       kind::must,
       {},
       get_is_not_sent},
      {36, "A target that sleeps is served all the same", kind::must, {2}, sleeping_target},
  };
}

}  // namespace conformance
