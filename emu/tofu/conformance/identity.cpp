// SPDX-License-Identifier: BSD-3-Clause
// Identity: numbers of the interface, what TNIs can do, where processes are, how VCQs are named.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <set>

#include "test.h"

namespace conformance {
namespace {

// 1
void constants(test& t) {
  for (const code& one : codes()) {
    t.expect(one.value == one.expected, "%s is %d, not %d", one.name, one.value, one.expected);
  }
  t.expect(sizeof(utofu_mrq_notice) == 64, "a notice has %zu bytes", sizeof(utofu_mrq_notice));
  t.expect(offsetof(utofu_mrq_notice, vcq_id) == 8 && offsetof(utofu_mrq_notice, rmt_stadd) == 40,
           "a notice is laid out differently");
  t.expect(sizeof(utofu_onesided_caps) == 88, "caps have %zu bytes", sizeof(utofu_onesided_caps));
  t.expect(sizeof(utofu_vbg_setting) == 48, "a setting has %zu bytes", sizeof(utofu_vbg_setting));
  t.expect(UTOFU_ONESIDED_FLAG_TCQ_NOTICE == 1UL << 14 &&
               UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE == 1UL << 15 &&
               UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE == 1UL << 2 &&
               UTOFU_ONESIDED_FLAG_STRONG_ORDER == 1UL,
           "flags of operations differ");
  t.expect(UTOFU_ONESIDED_FLAG_PATH(3) == 3UL << 28 && UTOFU_ONESIDED_FLAG_SPS(2) == 2UL << 24,
           "flags with a number differ");
  t.expect(UTOFU_VCQ_FLAG_THREAD_SAFE == 1 && UTOFU_VCQ_FLAG_EXCLUSIVE == 2 &&
               UTOFU_VCQ_FLAG_SESSION_MODE == 4,
           "flags of VCQs differ");
  t.expect(UTOFU_ARMW_OP_SWAP == 1 && UTOFU_ARMW_OP_OR == 5 && UTOFU_REDUCE_OP_BFPSUM == 8,
           "operations differ");
  t.expect(UTOFU_MRQ_TYPE_LCL_PUT == 0 && UTOFU_MRQ_TYPE_RMT_ARMW == 5, "types of notices differ");
  t.expect(UTOFU_VBG_ID_NULL == ~std::uint64_t{0} && UTOFU_PATH_COORD_NULL == 255, "nulls differ");
}

void check_caps(test& t, const utofu_onesided_caps& caps, int tni) {
  t.expect((caps.flags & UTOFU_ONESIDED_CAP_FLAG_ARMW) != 0, "TNI %d has no ARMW", tni);
  t.presume(caps.armw_ops == 0x3f, "armw_ops %#lx", caps.armw_ops);
  t.expect(caps.num_cmp_ids == 8, "%u cmp_ids", caps.num_cmp_ids);
  t.expect(caps.num_reserved_stags == 256, "%u reserved tags", caps.num_reserved_stags);
  t.expect(caps.cache_line_size == 256, "line of %zu", caps.cache_line_size);
  t.expect(caps.stag_address_alignment == 256, "alignment %zu", caps.stag_address_alignment);
  t.expect(caps.max_toq_desc_size == 64, "descriptor of %zu", caps.max_toq_desc_size);
  t.expect(caps.max_putget_size == 16777215, "put of %zu", caps.max_putget_size);
  t.expect(caps.max_piggyback_size == 32, "piggyback of %zu", caps.max_piggyback_size);
  t.expect(caps.max_edata_size == 1, "edata of %zu", caps.max_edata_size);
  t.presume(caps.max_mtu == 1920 && caps.max_gap == 255, "mtu %zu gap %zu", caps.max_mtu,
            caps.max_gap);
}

// 2
void capabilities(test& t) {
  const tni_list tnis = all_tnis();
  t.require(tnis.count > 0, "there is no TNI");
  for (std::size_t i = 0; i < tnis.count; ++i) {
    utofu_onesided_caps* caps = nullptr;
    t.done(utofu_query_onesided_caps(tnis.ids[i], &caps), "utofu_query_onesided_caps");
    check_caps(t, *caps, tnis.ids[i]);
    const bool sessions = (caps->flags & UTOFU_ONESIDED_CAP_FLAG_SESSION_MODE) != 0;
    if (i == 0 && !sessions) t.note("no session mode, which Fugaku has");
  }
}

// 3
void tni_array(test& t) {
  for (int round = 0; round < 100; ++round) {
    utofu_tni_id_t* ids = nullptr;
    std::size_t count = 0;
    t.done(utofu_get_onesided_tnis(&ids, &count), "utofu_get_onesided_tnis");
    const std::set<int> different(ids, ids + count);
    t.require(count > 0 && different.size() == count, "%zu ids, %zu different", count,
              different.size());
    t.require(*different.rbegin() < 6, "a TNI is number %d", *different.rbegin());
    if (round == 0) t.presume(count == 6, "%zu TNIs", count);
    std::free(ids);
  }
}

bool on_the_machine(const coords& at) {
  return at[0] < 32 && at[1] < 32 && at[2] < 32 && at[3] < 2 && at[4] < 3 && at[5] < 2;
}

// 4
void places(test& t) {
  coords mine{}, again{};
  t.done(utofu_query_my_coords(mine.data()), "utofu_query_my_coords");
  t.done(utofu_query_my_coords(again.data()), "utofu_query_my_coords");
  t.expect(mine == again, "a process moved");
  t.expect(on_the_machine(mine), "x%d y%d z%d a%d b%d c%d", mine[0], mine[1], mine[2], mine[3],
           mine[4], mine[5]);
  std::set<coords> nodes = {mine};
  const int others = std::min(t.others(), 3);
  for (int i = 1; i <= others; ++i) {
    const coords theirs = t.other(i).where();
    t.expect(on_the_machine(theirs), "process %d is nowhere", i);
    nodes.insert(theirs);
  }
  t.note("%d processes on %zu nodes", others + 1, nodes.size());
}

/// Names the VCQ, reads the name, compares.
void there_and_back(test& t, const coords& at, int tni, int cq, int cmp) {
  coords place = at, seen{};
  utofu_vcq_id_t id = 0, bare = 0;
  utofu_tni_id_t seen_tni = 99;
  utofu_cq_id_t seen_cq = 99;
  std::uint16_t extra = 99;
  t.done(utofu_construct_vcq_id(place.data(), utofu_tni_id_t(tni), utofu_cq_id_t(cq),
                                utofu_cmp_id_t(cmp), &id),
         "utofu_construct_vcq_id");
  t.done(utofu_query_vcq_info(id, seen.data(), &seen_tni, &seen_cq, &extra),
         "utofu_query_vcq_info");
  t.require(seen == at && seen_tni == tni && seen_cq == cq, "tni %d cq %d is read as %d %d", tni,
            cq, seen_tni, seen_cq);
  t.presume(extra == cmp, "extra_val %d for cmp_id %d", extra, cmp);
  bare = id;
  t.done(utofu_set_vcq_id_path(&id, nullptr), "the default path");
  utofu_vcq_id_t twice = id;
  t.done(utofu_set_vcq_id_path(&twice, nullptr), "the default path again");
  t.expect(id == twice, "the default path set twice differs");
  t.expect(utofu_query_vcq_info(id, seen.data(), &seen_tni, &seen_cq, &extra) == 0 && seen == at &&
               seen_tni == tni,
           "a path changes where the VCQ is");
  std::uint8_t path[3] = {1, 2, 1};
  utofu_vcq_id_t with_path = bare;
  if (utofu_set_vcq_id_path(&with_path, path) != UTOFU_SUCCESS) return;
  t.done(utofu_set_vcq_id_path(&with_path, nullptr), "back to the default path");
  t.presume(with_path == id, "a path cannot be taken back");
}

void own_name(test& t, const vcq& one) {
  coords mine{};
  utofu_query_my_coords(mine.data());
  utofu_vcq_id_t built = 0, with_path = one.id();
  t.done(utofu_construct_vcq_id(mine.data(), utofu_tni_id_t(one.tni()), utofu_cq_id_t(one.cq()), 3,
                                &built),
         "naming");
  utofu_set_vcq_id_path(&built, nullptr);
  utofu_set_vcq_id_path(&with_path, nullptr);
  t.expect(built == with_path, "the VCQ is %#lx, its name says %#lx", with_path, built);
}

// 5
void names(test& t) {
  coords mine{};
  t.done(utofu_query_my_coords(mine.data()), "utofu_query_my_coords");
  for (const coords& at : {mine, coords{0, 0, 0, 0, 0, 0}}) {
    for (int tni = 0; tni < 6; ++tni) {
      for (int cq = 0; cq < 11; ++cq) there_and_back(t, at, tni, cq, (tni + cq) % 8);
    }
  }
  const vcq one = vcq::with_cmp_id(t.tni(), 3);
  t.done(one.made(), "a VCQ with cmp_id 3");
  own_name(t, one);
  std::uint8_t path[3] = {0, 0, 0}, seen[3] = {9, 9, 9};
  utofu_path_id_t number = 0;
  const int code = utofu_get_path_id(one.id(), path, &number);
  t.presume(code == UTOFU_SUCCESS, "utofu_get_path_id: %s", name_of(code).c_str());
  if (code != UTOFU_SUCCESS) return;
  t.done(utofu_get_path_coords(one.id(), number, seen), "utofu_get_path_coords");
  t.presume(std::memcmp(path, seen, 3) == 0, "path 0,0,0 comes back as %d,%d,%d", seen[0], seen[1],
            seen[2]);
}

// 6
void wrong_arguments(test& t) {
  utofu_vcq_hdl_t hdl = 0;
  utofu_vcq_id_t id = 0;
  coords mine{}, nowhere{0, 0, 0, 2, 0, 0};
  utofu_query_my_coords(mine.data());
  t.refused(utofu_create_vcq(99, 0, &hdl), UTOFU_ERR_INVALID_TNI_ID, "TNI 99");
  t.refused(utofu_create_vcq_with_cmp_id(0, 8, 0, &hdl), UTOFU_ERR_INVALID_CMP_ID, "cmp_id 8");
  t.refused(utofu_create_vcq(0, 1UL << 20, &hdl), UTOFU_ERR_INVALID_FLAGS, "an unknown flag");
  t.refused(utofu_construct_vcq_id(nowhere.data(), 0, 0, 0, &id), UTOFU_ERR_INVALID_COORDS, "a=2");
  t.refused(utofu_construct_vcq_id(mine.data(), 6, 0, 0, &id), UTOFU_ERR_INVALID_TNI_ID,
            "naming TNI 6");
  t.refused(utofu_construct_vcq_id(mine.data(), 0, 12, 0, &id), UTOFU_ERR_INVALID_CQ_ID,
            "naming CQ 12");
  t.refused(utofu_construct_vcq_id(mine.data(), 0, 0, 8, &id), UTOFU_ERR_INVALID_CMP_ID,
            "naming cmp_id 8");
  utofu_onesided_caps* caps = nullptr;
  t.refused(utofu_query_onesided_caps(99, &caps), UTOFU_ERR_INVALID_TNI_ID, "caps of TNI 99");
}

}  // namespace

std::vector<test_case> identity_tests() {
  return {
      {1, "Constants and layouts are the published ones", kind::must, {}, constants},
      {2, "Every TNI can do what Fugaku's can", kind::must, {}, capabilities},
      {3, "The array of TNIs is the caller's to free", kind::must, {}, tni_array},
      {4, "Every process has a place on the machine", kind::must, {2}, places},
      {5, "A VCQ id is named and read back, with a path and without", kind::must, {}, names},
      {6, "Wrong TNIs, components and places are refused", kind::must, {}, wrong_arguments},
  };
}

}  // namespace conformance
