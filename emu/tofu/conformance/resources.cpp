// SPDX-License-Identifier: BSD-3-Clause
// Resources: how many VCQs there are, who gets them, and when they come back.
#include <unistd.h>

#include <set>

#include "test.h"

namespace conformance {
namespace {

bool means_none_left(int code) {
  return code == UTOFU_ERR_FULL || code == UTOFU_ERR_NOT_AVAILABLE;
}

/// Takes EXCLUSIVE VCQs until there are none.
std::vector<vcq> take_all(test& t, utofu_tni_id_t tni) {
  std::vector<vcq> taken;
  while (taken.size() < 64) {
    vcq one(tni, UTOFU_VCQ_FLAG_EXCLUSIVE);
    if (!one.ok()) {
      t.expect(means_none_left(one.made()), "none left: %s", name_of(one.made()).c_str());
      break;
    }
    taken.push_back(std::move(one));
  }
  return taken;
}

// 7
void exclusive_limit(test& t) {
  std::vector<vcq> taken = take_all(t, t.tni());
  t.presume(taken.size() == 9, "%zu EXCLUSIVE VCQs on a TNI", taken.size());
  std::set<int> cqs;
  for (const vcq& one : taken) cqs.insert(one.cq());
  t.expect(cqs.size() == taken.size(), "%zu EXCLUSIVE VCQs on %zu CQs", taken.size(), cqs.size());
  const vcq shared(t.tni());
  t.expect(!shared.ok() || cqs.count(shared.cq()) == 0,
           "a shared VCQ came on an EXCLUSIVE one's CQ");
}

// 8
void shared_cq(test& t) {
  std::vector<vcq> made;
  std::set<int> cqs;
  std::set<utofu_vcq_id_t> ids;
  for (utofu_cmp_id_t cmp = 0; cmp < 8; ++cmp) {
    made.push_back(vcq::with_cmp_id(t.tni(), cmp));
    t.require(made.back().ok(), "cmp_id %d: %s", cmp, name_of(made.back().made()).c_str());
    cqs.insert(made.back().cq());
    ids.insert(made.back().id());
  }
  t.expect(ids.size() == 8, "%zu ids for 8 VCQs", ids.size());
  t.expect(cqs.size() == 1, "the VCQs of one process and TNI with cmp_ids 0 to 7 lie on %zu CQs",
           cqs.size());
  const vcq other(t.tni());
  t.note("one more without cmp_id: %s", other.ok()
                                            ? (cqs.count(other.cq()) ? "the same CQ" : "another CQ")
                                            : name_of(other.made()).c_str());
}

// 9
void cmp_id_twice(test& t) {
  const vcq first = vcq::with_cmp_id(t.tni(), 2), second = vcq::with_cmp_id(t.tni(), 2);
  t.done(first.made(), "cmp_id 2");
  t.expect(second.made() == UTOFU_ERR_USED, "cmp_id 2 again: %s", name_of(second.made()).c_str());
}

/// Is the other process on this node?
void require_neighbour(test& t, peer& there) {
  coords mine{};
  utofu_query_my_coords(mine.data());
  if (there.where() != mine) t.skip("needs two processes on one node");
}

// 10
void exclusive_keeps_others_out(test& t) {
  peer& there = t.other();
  require_neighbour(t, there);
  std::vector<vcq> mine;
  for (int i = 0; i < 3; ++i) mine.emplace_back(t.tni(), UTOFU_VCQ_FLAG_EXCLUSIVE);
  std::set<int> cqs;
  for (const vcq& one : mine) {
    t.require(one.ok(), "an EXCLUSIVE VCQ: %s", name_of(one.made()).c_str());
    cqs.insert(one.cq());
  }
  std::size_t theirs = 0;
  for (int i = 0; i < 64; ++i) {
    const far_vcq one = there.open(t.tni(), UTOFU_VCQ_FLAG_EXCLUSIVE);
    if (one.code != UTOFU_SUCCESS) {
      t.expect(means_none_left(one.code), "none left: %s", name_of(one.code).c_str());
      break;
    }
    ++theirs;
    t.expect(cqs.insert(one.cq).second, "two processes have CQ %d EXCLUSIVE", one.cq);
  }
  t.presume(theirs + mine.size() == 9, "3 here and %zu there are all", theirs);
  const far_vcq shared = there.open(t.tni());
  t.expect(shared.code != UTOFU_SUCCESS || cqs.count(shared.cq) == 0, "a shared VCQ came on CQ %d",
           shared.cq);
}

// 11
void again(test& t) {
  for (int round = 0; round < 20; ++round) {
    vcq one(t.tni(), round % 2 ? UTOFU_VCQ_FLAG_EXCLUSIVE : 0);
    t.require(one.ok(), "round %d: %s", round, name_of(one.made()).c_str());
    t.done(one.close(), "utofu_free_vcq");
  }
  std::vector<vcq> first = take_all(t, t.tni());
  const std::size_t count = first.size();
  first.clear();
  t.expect(take_all(t, t.tni()).size() == count, "freeing did not bring all of %zu back", count);
}

/// EXCLUSIVE VCQs that a process gets until there are none.
std::size_t take_all_there(peer& there, utofu_tni_id_t tni) {
  std::size_t count = 0;
  while (count < 64 && there.open(tni, UTOFU_VCQ_FLAG_EXCLUSIVE).code == UTOFU_SUCCESS) ++count;
  return count;
}

// 12
void killed_process(test& t) {
  const std::size_t before = take_all(t, t.tni()).size();
  peer& there = t.victim();
  require_neighbour(t, there);
  const std::size_t theirs = take_all_there(there, t.tni());
  t.require(theirs > 0, "a started process got no VCQ");
  t.expect(take_all(t, t.tni()).empty(), "VCQs are left after another process took %zu", theirs);
  there.child()->kill_now();
  std::size_t after = 0;
  const std::uint64_t end = now_ns() + 5000000000u;
  while ((after = take_all(t, t.tni()).size()) < before && !has_passed(end)) usleep(20000);
  t.expect(after == before, "%zu of %zu came back in 5 s", after, before);
}

}  // namespace

std::vector<test_case> resource_tests() {
  return {
      {7,
       "A TNI has 9 EXCLUSIVE VCQs, then FULL or NOT_AVAILABLE",
       kind::must,
       {1, false, true},
       exclusive_limit},
      {8, "VCQs with cmp_ids 0 to 7 share one CQ", kind::reports, {}, shared_cq},
      {9, "A cmp_id that is taken is USED", kind::reports, {}, cmp_id_twice},
      {10,
       "An EXCLUSIVE VCQ keeps all others off its CQ",
       kind::must,
       {2, false, true},
       exclusive_keeps_others_out},
      {11, "What is freed can be had again", kind::must, {1, false, true}, again},
      {12, "A killed process gives its CQs back", kind::must, {2, true, true}, killed_process},
  };
}

}  // namespace conformance
