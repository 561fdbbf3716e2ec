// SPDX-License-Identifier: BSD-3-Clause
// Steering addresses: what a registration gives, who can compute it, what it protects.
#include "stage.h"

namespace conformance {
namespace {

constexpr std::size_t page = memory::page;

std::uint64_t tag_of(utofu_stadd_t stadd) {
  return (stadd >> 40) & 0x3ffff;
}

// 13
void arithmetic(test& t) {
  stage s(t, 4 * page);
  s.mine.fill(0, 4 * page, 13);
  for (const std::size_t at :
       {std::size_t{0}, std::size_t{1}, std::size_t{255}, page - 3, 3 * page + 77}) {
    s.set(0, 4 * page, 0);
    s.put_now(at, at, 100, "a put at an offset");
    s.mine.fill(0, 100, 13);
    t.expect(s.differs(0, at, 0) == at, "offset %zu: bytes before it changed", at);
    t.expect(s.differs(at + 100, 4 * page - at - 100, 0) == 4 * page - at - 100,
             "offset %zu: bytes after it changed", at);
    s.mine.fill(0, 4 * page, 13);
    s.get_now(0, at, 100, "a get from an offset");
    t.expect(s.mine.mismatch(0, 3, 13) != 3 || at == 0,
             "offset %zu: the get brought the first bytes", at);
    s.mine.fill(0, 4 * page, 13);
  }
  t.presume(tag_of(s.from()) >= 4096, "an automatic registration has tag %lu", tag_of(s.from()));
  t.presume((s.from() & 0xffffffffff) % page == 0, "offset %#lx of a page",
            s.from() & 0xffffffffff);
}

/// A put from the STADD of one VCQ through another.
int put_through(vcq& through, utofu_stadd_t from, stage& s) {
  const int posted = through.post([&] {
    return utofu_put(through.hdl(), s.far.id, from, s.to(), 64, 0, lcl_notice | tcq_notice,
                     nullptr);
  });
  if (posted != UTOFU_SUCCESS) return posted;
  const sent entry = through.next_sent();
  return entry.code == UTOFU_SUCCESS ? through.next_notice().code : entry.code;
}

// 14
void one_table_per_cq(test& t) {
  stage s(t, page);
  s.mine.fill(0, 64, 14);
  vcq first = vcq::with_cmp_id(t.tni(), 5), second = vcq::with_cmp_id(t.tni(), 6);
  t.done(first.made(), "cmp_id 5");
  t.done(second.made(), "cmp_id 6");
  t.require(first.cq() == second.cq(), "cmp_ids 5 and 6 lie on CQs %d and %d", first.cq(),
            second.cq());
  {
    const memory shared(page);
    registration one(first, shared.at(), page);
    registration other(second, shared.at(), page);
    t.expect(one.stadd() == other.stadd(), "one range has STADDs %#lx and %#lx on one CQ",
             one.stadd(), other.stadd());
    if (one.stadd() == other.stadd()) other.forget();
  }
  const registration by_first(first, s.mine.at(), page);
  const int through = put_through(second, by_first.stadd(), s);
  t.expect(through == UTOFU_SUCCESS, "a VCQ cannot use what another VCQ of its CQ registered: %s",
           name_of(through).c_str());
  t.expect(through != UTOFU_SUCCESS || s.mismatch(0, 64, 14) == 64, "wrong bytes arrived");
}

// 14, the other half.
void tables_differ(test& t) {
  const vcq first(t.tni(), UTOFU_VCQ_FLAG_EXCLUSIVE), second(t.tni(), UTOFU_VCQ_FLAG_EXCLUSIVE);
  t.done(first.made(), "an EXCLUSIVE VCQ");
  t.done(second.made(), "another");
  const memory own(page);
  const registration one(first, own.at(), page), other(second, own.at(), page);
  t.done(one.made(), "registering with one");
  t.done(other.made(), "registering with the other");
  t.presume(one.stadd() != other.stadd(), "STADD %#lx on two CQs", one.stadd());
}

void same_and_different(test& t) {
  one_table_per_cq(t);
  tables_differ(t);
}

// 15
void tags(test& t) {
  stage s(t, page);
  const memory own(page);
  for (const unsigned tag : {0u, 11u, 255u}) {
    const registration tagged = registration::tagged(s.here, own.at(), page, tag);
    utofu_stadd_t computed = 0;
    t.done(tagged.made(), "registering with a tag");
    t.done(utofu_query_stadd(s.here.id(), tag, &computed), "utofu_query_stadd");
    t.expect(computed == tagged.stadd(), "tag %u is %#lx, computed %#lx", tag, tagged.stadd(),
             computed);
    t.presume(tag_of(computed) % 256 == tag, "tag %u lies in the STADD as %lu", tag,
              tag_of(computed));
  }
  const far_memory theirs = s.there.enroll(s.far, s.far_memory_index, 0, page, 0, 7);
  utofu_stadd_t computed = 0;
  t.done(theirs.code, "registering with a tag at the other end");
  t.done(utofu_query_stadd(s.far.id, 7, &computed), "computing a remote STADD");
  t.expect(computed == theirs.stadd, "tag 7 of the other end is %#lx, computed %#lx", theirs.stadd,
           computed);
  utofu_stadd_t beyond = 0;
  t.refused(utofu_query_stadd(s.far.id, 256, &beyond), UTOFU_ERR_INVALID_STAG, "tag 256");
}

// 16
void unaligned_tag(test& t) {
  stage s(t, 2 * page);
  s.mine.fill(0, 64, 16);
  const far_memory theirs = s.there.enroll(s.far, s.far_memory_index, 40, 1000, 0, 9);
  t.require(theirs.code == UTOFU_SUCCESS, "memory at 40 past a line with a tag: %s",
            name_of(theirs.code).c_str());
  utofu_stadd_t computed = 0;
  utofu_query_stadd(s.far.id, 9, &computed);
  t.note("the computed STADD is %ld bytes from the registered one", long(theirs.stadd - computed));
  t.done(s.here.post([&] {
    return utofu_put(s.here.hdl(), s.far.id, s.from(), theirs.stadd, 64, 0, lcl_notice, nullptr);
  }),
         "a put there");
  s.await(UTOFU_MRQ_TYPE_LCL_PUT, "a put there");
  t.expect(s.mismatch(40, 64, 16) == 64, "the put did not land at the registered address");
}

/// What comes of a put to that STADD: SUCCESS or what the MRQ says.
int fate_of_put(stage& s, utofu_stadd_t to) {
  const int posted = s.here.post(
      [&] { return utofu_put(s.here.hdl(), s.far.id, s.from(), to, 64, 0, lcl_notice, nullptr); });
  return posted != UTOFU_SUCCESS ? posted : s.here.next_notice(2).code;
}

// 17
void registered_twice(test& t) {
  stage s(t, page);
  const std::uint64_t area = s.there.allocate(page);
  const far_memory first = s.there.enroll(s.far, area, 0, page),
                   second = s.there.enroll(s.far, area, 0, page);
  t.done(first.code, "registering");
  t.done(second.code, "registering again");
  t.expect(first.stadd == second.stadd, "one range has two STADDs: %#lx and %#lx", first.stadd,
           second.stadd);
  t.done(s.there.strike(first), "deregistering");
  const int fate = fate_of_put(s, second.stadd);
  t.note("after one of two deregistrations a put ends with %s", name_of(fate).c_str());
  t.presume(first.stadd != second.stadd || fate != UTOFU_SUCCESS, "registrations are counted");
  t.note("the second deregistration: %s", name_of(s.there.strike(second)).c_str());
}

// 18
void table_full(test& t) {
  constexpr std::size_t most = 4200;
  const vcq one(t.tni());
  t.done(one.made(), "a VCQ");
  const memory own(most * page);
  std::vector<registration> all;
  int code = UTOFU_SUCCESS;
  while (all.size() < most && code == UTOFU_SUCCESS) {
    registration next(one, own.at(all.size() * page), 4096);
    code = next.made();
    if (code == UTOFU_SUCCESS) all.push_back(std::move(next));
  }
  t.note("%zu registrations, then %s", all.size(), name_of(code).c_str());
  t.require(code != UTOFU_SUCCESS, "no end of tags after %zu", all.size());
  t.presume(code == UTOFU_ERR_FULL, "no tag left: %s, not FULL", name_of(code).c_str());
  t.expect(!all.empty(), "nothing could be registered");
  all.pop_back();
  const registration after(one, own.at(), 4096);
  const registration fresh(one, own.at((most - 1) * page), 4096);
  t.expect(fresh.ok(), "a tag given back is not to be had: %s", name_of(fresh.made()).c_str());
}

// 19
void read_only(test& t) {
  stage s(t, page);
  const std::uint64_t area = s.there.allocate(page);
  s.there.fill(area, 0, page, 19);
  const far_memory theirs = s.there.enroll(s.far, area, 0, page, UTOFU_REG_MEM_FLAG_READ_ONLY);
  t.done(theirs.code, "registering READ_ONLY");
  const int fate = fate_of_put(s, theirs.stadd);
  t.expect(fate != UTOFU_SUCCESS, "a put into READ_ONLY memory succeeded");
  t.presume(fate == UTOFU_ERR_MRQ_RMT_MEMORY, "a put into READ_ONLY memory: %s",
            name_of(fate).c_str());
  t.expect(s.there.mismatch(area, 0, page, 19) == page, "READ_ONLY memory was written");
  s.here.sweep();
  t.done(s.here.post([&] {
    return utofu_get(s.here.hdl(), s.far.id, s.from(), theirs.stadd, 500, 0, lcl_notice, nullptr);
  }),
         "a get");
  s.await(UTOFU_MRQ_TYPE_LCL_GET, "a get from READ_ONLY memory");
  t.expect(s.mine.mismatch(0, 500, 19) == 500, "the get brought something else");
}

// 20
void page_protection(test& t) {
  stage s(t, page);
  const std::uint64_t area = s.there.allocate(4 * page);
  const far_memory theirs = s.there.enroll(s.far, area, page, 100);
  t.done(theirs.code, "registering 100 bytes");
  const int inside = fate_of_put(s, theirs.stadd + 200),
            beyond = fate_of_put(s, theirs.stadd + 2 * page);
  t.note("100 bytes past the end: %s; two pages on: %s", name_of(inside).c_str(),
         name_of(beyond).c_str());
  t.expect(beyond != UTOFU_SUCCESS, "a put far beyond the registration succeeded");
  t.presume(beyond == UTOFU_ERR_MRQ_RMT_LENGTH, "beyond the registration: %s",
            name_of(beyond).c_str());
  t.presume(inside == UTOFU_SUCCESS, "protection is finer than a page");
  t.expect(s.there.differs(area, 2 * page, 2 * page, 0) == 2 * page,
           "bytes beyond the page changed");
}

}  // namespace

std::vector<test_case> stadd_tests() {
  return {
      {13, "A STADD and an offset address the byte at that offset", kind::must, {}, arithmetic},
      {14,
       "VCQs of one CQ share registrations, other CQs do not",
       kind::reports,
       {},
       same_and_different},
      {15,
       "The STADD of a tag can be computed, here and for another process",
       kind::must,
       {},
       tags},
      {16, "Memory registered with a tag may start anywhere", kind::reports, {}, unaligned_tag},
      {17,
       "Registering twice and deregistering once takes the STADD away",
       kind::reports,
       {},
       registered_twice},
      {18,
       "Running out of tags is said, and tags come back",
       kind::must,
       {1, false, true},
       table_full},
      {19, "Read-only memory can be read and not written", kind::must, {}, read_only},
      {20, "A registration protects whole pages", kind::reports, {}, page_protection},
  };
}

}  // namespace conformance
