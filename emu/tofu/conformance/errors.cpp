// SPDX-License-Identifier: BSD-3-Clause
// Errors: which queue says what, and that a VCQ goes on afterwards.
#include "stage.h"

namespace conformance {
namespace {

constexpr std::size_t page = memory::page;

/// What the two queues said about one operation posted with both notices.
struct fate {
  int posted = UTOFU_SUCCESS, tcq = UTOFU_ERR_NOT_FOUND, mrq = UTOFU_ERR_NOT_FOUND;
  void* cbdata = nullptr;
};

fate follow(stage& s, int posted) {
  fate seen;
  seen.posted = posted;
  if (posted != UTOFU_SUCCESS) return seen;
  const sent entry = s.here.next_sent(3);
  seen.tcq = entry.code;
  seen.cbdata = entry.cbdata;
  seen.mrq = s.here.next_notice(entry.code == UTOFU_SUCCESS ? 3 : 0.05).code;
  return seen;
}

constexpr unsigned long both = tcq_notice | lcl_notice;

fate put_from_to(stage& s, utofu_stadd_t from, utofu_stadd_t to, utofu_vcq_id_t at, void* mark) {
  return follow(
      s, s.here.post([&] { return utofu_put(s.here.hdl(), at, from, to, 64, 1, both, mark); }));
}

fate get_into(stage& s, utofu_stadd_t into, utofu_stadd_t from) {
  return follow(s, s.here.post([&] {
    return utofu_get(s.here.hdl(), s.far.id, into, from, 64, 1, both, nullptr);
  }));
}

void expect_tcq(test& t, const fate& seen, int presumed, const char* what) {
  t.expect(seen.posted == UTOFU_SUCCESS, "%s was refused at the call: %s", what,
           name_of(seen.posted).c_str());
  t.expect(seen.tcq != UTOFU_SUCCESS && seen.tcq != UTOFU_ERR_NOT_FOUND, "%s: TCQ %s, MRQ %s", what,
           name_of(seen.tcq).c_str(), name_of(seen.mrq).c_str());
  t.presume(seen.tcq == presumed, "%s: %s, not %s", what, name_of(seen.tcq).c_str(),
            name_of(presumed).c_str());
  t.presume(seen.mrq == UTOFU_ERR_NOT_FOUND, "%s: after the TCQ's the MRQ says %s", what,
            name_of(seen.mrq).c_str());
}

void expect_mrq(test& t, const fate& seen, int presumed, const char* what) {
  t.expect(seen.posted == UTOFU_SUCCESS, "%s was refused at the call: %s", what,
           name_of(seen.posted).c_str());
  t.expect(seen.mrq != UTOFU_SUCCESS && seen.mrq != UTOFU_ERR_NOT_FOUND, "%s: TCQ %s, MRQ %s", what,
           name_of(seen.tcq).c_str(), name_of(seen.mrq).c_str());
  t.presume(seen.mrq == presumed, "%s: %s, not %s", what, name_of(seen.mrq).c_str(),
            name_of(presumed).c_str());
}

utofu_stadd_t unregistered(test& t, utofu_vcq_id_t id) {
  utofu_stadd_t stadd = 0;
  t.done(utofu_query_stadd(id, 201, &stadd), "computing the STADD of a tag");
  return stadd;
}

void goes_on(stage& s) {
  s.here.sweep();
  s.mine.fill(0, 64, 47);
  s.put_now(0, 0, 64, "a put after errors");
  s.t.expect(s.mismatch(0, 64, 47) == 64, "a put after errors brings wrong bytes");
}

// 47
void local_codes(test& t) {
  stage s(t, page);
  int mark = 0;
  const fate tag = put_from_to(s, unregistered(t, s.here.id()), s.to(), s.far.id, &mark);
  expect_tcq(t, tag, UTOFU_ERR_TCQ_STADD, "a put from a tag that is not registered");
  t.expect(tag.cbdata == &mark, "the error has other cbdata");
  expect_tcq(t, put_from_to(s, s.from(2 * page), s.to(), s.far.id, nullptr), UTOFU_ERR_TCQ_MEMORY,
             "a put from beyond the registration");
  goes_on(s);
}

void remote_codes(test& t) {
  stage s(t, page);
  expect_mrq(t, put_from_to(s, s.from(), unregistered(t, s.far.id), s.far.id, nullptr),
             UTOFU_ERR_MRQ_RMT_STADD, "a put to a tag that is not registered");
  expect_mrq(t, put_from_to(s, s.from(), s.to(2 * page), s.far.id, nullptr),
             UTOFU_ERR_MRQ_RMT_LENGTH, "a put beyond the registration");
  expect_mrq(t, get_into(s, s.from(), unregistered(t, s.far.id)), UTOFU_ERR_MRQ_RMT_STADD,
             "a get from a tag that is not registered");
  expect_mrq(t, get_into(s, s.from(), s.to(2 * page)), UTOFU_ERR_MRQ_RMT_LENGTH,
             "a get from beyond the registration");
  goes_on(s);
}

void landing_codes(test& t) {
  stage s(t, page);
  const fate tag = get_into(s, unregistered(t, s.here.id()), s.to());
  const fate beyond = get_into(s, s.from(2 * page), s.to());
  t.note("a get into an unregistered tag: TCQ %s, MRQ %s; beyond the registration: TCQ %s, MRQ %s",
         name_of(tag.tcq).c_str(), name_of(tag.mrq).c_str(), name_of(beyond.tcq).c_str(),
         name_of(beyond.mrq).c_str());
  t.expect(tag.tcq != UTOFU_SUCCESS || tag.mrq != UTOFU_SUCCESS,
           "a get into an unregistered tag succeeds");
  t.expect(beyond.tcq != UTOFU_SUCCESS || beyond.mrq != UTOFU_SUCCESS,
           "a get beyond the registration succeeds");
  goes_on(s);
}

void unknown_peer(test& t) {
  stage s(t, page);
  coords mine{};
  utofu_vcq_id_t nobody = 0;
  utofu_query_my_coords(mine.data());
  t.done(utofu_construct_vcq_id(mine.data(), 5, 10, 7, &nobody), "naming nobody's VCQ");
  utofu_set_vcq_id_path(&nobody, nullptr);
  expect_mrq(t, put_from_to(s, s.from(), s.to(), nobody, nullptr), UTOFU_ERR_MRQ_PEER,
             "a put to nobody");
  goes_on(s);
}

void all_codes(test& t) {
  local_codes(t);
  remote_codes(t);
  landing_codes(t);
  unknown_peer(t);
}

// 48
void before_registration(test& t) {
  stage s(t, page);
  utofu_stadd_t early = 0;
  t.done(utofu_query_stadd(s.far.id, 44, &early), "computing the STADD of a tag");
  const std::uint64_t area = s.there.allocate(page);
  s.mine.fill(0, 64, 48);
  const fate before = put_from_to(s, s.from(), early, s.far.id, nullptr);
  t.note("a put before the other end registers: TCQ %s, MRQ %s", name_of(before.tcq).c_str(),
         name_of(before.mrq).c_str());
  t.presume(before.mrq == UTOFU_ERR_MRQ_RMT_STADD, "it is not reported as RMT_STADD");
  t.expect(before.mrq != UTOFU_SUCCESS, "it succeeds");
  const far_memory theirs = s.there.enroll(s.far, area, 0, page, 0, 44);
  t.require(theirs.code == UTOFU_SUCCESS && theirs.stadd == early,
            "the tag registered later is not where it was computed");
  t.expect(s.there.differs(area, 0, 64, 0) == 64, "the early put arrived after all");
  const fate after = put_from_to(s, s.from(), early, s.far.id, nullptr);
  t.expect(after.mrq == UTOFU_SUCCESS, "after registration: %s", name_of(after.mrq).c_str());
  t.expect(s.there.mismatch(area, 0, 64, 48) == 64, "after registration wrong bytes arrive");
}

// 49
void after_deregistration(test& t) {
  stage s(t, page);
  const memory other(page);
  registration gone(s.here, other.at(), page);
  t.done(gone.made(), "registering");
  const utofu_stadd_t from = gone.stadd();
  t.done(gone.close(), "deregistering");
  expect_tcq(t, put_from_to(s, from, s.to(), s.far.id, nullptr), UTOFU_ERR_TCQ_STADD,
             "a put from deregistered memory");
  t.done(s.there.strike(s.theirs), "deregistering at the other end");
  expect_mrq(t, put_from_to(s, s.from(), s.to(), s.far.id, nullptr), UTOFU_ERR_MRQ_RMT_STADD,
             "a put to deregistered memory");
  t.expect(s.differs(0, 64, 0) == 64, "deregistered memory was written");
  expect_mrq(t, get_into(s, s.from(), s.to()), UTOFU_ERR_MRQ_RMT_STADD,
             "a get from deregistered memory");
}

// 50
void edata_too_large(test& t) {
  stage s(t, page);
  const int posted = s.put(0, 0, 64, both, 256);
  const fate seen = follow(s, posted);
  t.expect(posted == UTOFU_SUCCESS, "edata 256 is refused at the call: %s",
           name_of(posted).c_str());
  t.expect(posted != UTOFU_SUCCESS || seen.tcq == UTOFU_ERR_TCQ_LENGTH, "edata 256: TCQ %s, MRQ %s",
           name_of(seen.tcq).c_str(), name_of(seen.mrq).c_str());
  goes_on(s);
}

}  // namespace

std::vector<test_case> error_tests() {
  return {
      {47,
       "What is wrong here shows in the TCQ, what is wrong there in the MRQ",
       kind::must,
       {},
       all_codes},
      {48,
       "A put before the other end registers is an error and no hang",
       kind::reports,
       {},
       before_registration},
      {49, "Deregistered memory is out of reach", kind::must, {}, after_deregistration},
      {50,
       "edata of more than a byte is accepted and fails as LENGTH",
       kind::reports,
       {},
       edata_too_large},
  };
}

}  // namespace conformance
