// SPDX-License-Identifier: BSD-3-Clause
// What notices say: type, VCQ, edata, addresses.
#include "stage.h"

namespace conformance {
namespace {

/// The same id without a path.
utofu_vcq_id_t bare(utofu_vcq_id_t id) {
  coords at{};
  utofu_tni_id_t tni = 0;
  utofu_cq_id_t cq = 0;
  std::uint16_t cmp = 0;
  utofu_vcq_id_t made = 0;
  utofu_query_vcq_info(id, at.data(), &tni, &cq, &cmp);
  utofu_construct_vcq_id(at.data(), tni, cq, cmp, &made);
  return made;
}

struct expected {
  utofu_mrq_notice_type type;
  utofu_vcq_id_t from;
  std::uint64_t edata;
};

/// What no user doubts: type, VCQ of the other side without a path, edata.
utofu_mrq_notice check(test& t, const noticed& entry, const expected& want, const char* what) {
  const utofu_mrq_notice& n = entry.notice;
  t.require(entry.is(want.type), "%s: %s, type %d", what, name_of(entry.code).c_str(),
            n.notice_type);
  t.expect(n.vcq_id == want.from || n.vcq_id == bare(want.from), "%s: vcq_id %#lx, not %#lx", what,
           n.vcq_id, want.from);
  t.presume(n.vcq_id == bare(want.from), "%s: its vcq_id has a path", what);
  t.expect(n.edata == want.edata, "%s: edata %lu, not %lu", what, n.edata, want.edata);
  return n;
}

void put_notices(stage& s, utofu_vcq_id_t to) {
  test& t = s.t;
  t.done(s.here.post([&] {
    return utofu_put(s.here.hdl(), to, s.from(300), s.to(700), 100, 32, lcl_notice | rmt_notice,
                     nullptr);
  }),
         "a put");
  const auto local =
      check(t, s.here.next_notice(), {UTOFU_MRQ_TYPE_LCL_PUT, s.far.id, 32}, "LCL_PUT");
  const auto remote =
      check(t, s.there.notice(s.far), {UTOFU_MRQ_TYPE_RMT_PUT, s.here.id(), 32}, "RMT_PUT");
  t.expect(remote.rmt_stadd == s.to(800), "RMT_PUT: rmt_stadd is %ld from the first byte of 100",
           long(remote.rmt_stadd - s.to(700)));
  t.note("LCL_PUT: lcl_stadd %#lx, rmt_stadd %#lx, the put was from %#lx to %#lx", local.lcl_stadd,
         local.rmt_stadd, s.from(300), s.to(700));
}

void get_notices(stage& s) {
  test& t = s.t;
  t.done(s.get(300, 700, 100, lcl_notice | rmt_notice, 33), "a get");
  const auto local =
      check(t, s.here.next_notice(), {UTOFU_MRQ_TYPE_LCL_GET, s.far.id, 33}, "LCL_GET");
  check(t, s.there.notice(s.far), {UTOFU_MRQ_TYPE_RMT_GET, s.here.id(), 33}, "RMT_GET");
  t.presume(local.lcl_stadd == s.from(400), "LCL_GET: lcl_stadd is %ld from the first byte of 100",
            long(local.lcl_stadd - s.from(300)));
  t.presume(local.rmt_stadd == s.to(800), "LCL_GET: rmt_stadd is %ld from the first byte of 100",
            long(local.rmt_stadd - s.to(700)));
}

void armw_notices(stage& s) {
  test& t = s.t;
  s.set(64, 8, 0);
  t.done(s.add(5, 64, lcl_notice, 34), "an add");
  s.await(UTOFU_MRQ_TYPE_LCL_ARMW, "an add");
  t.done(s.add(6, 64, lcl_notice | rmt_notice, 35), "an add");
  const auto local =
      check(t, s.here.next_notice(), {UTOFU_MRQ_TYPE_LCL_ARMW, s.far.id, 35}, "LCL_ARMW");
  const auto remote =
      check(t, s.there.notice(s.far), {UTOFU_MRQ_TYPE_RMT_ARMW, s.here.id(), 35}, "RMT_ARMW");
  t.expect(local.rmt_value == 5, "LCL_ARMW: rmt_value %lu is not the old value 5", local.rmt_value);
  t.presume(remote.rmt_value == s.to(64), "RMT_ARMW: rmt_value %#lx is not the STADD of the word",
            remote.rmt_value);
}

// 32
void fields(test& t) {
  stage s(t, memory::page);
  put_notices(s, s.far.id);
  utofu_vcq_id_t by_path = s.far.id;
  std::uint8_t path[3] = {0, 0, 0};
  if (utofu_set_vcq_id_path(&by_path, path) == UTOFU_SUCCESS) put_notices(s, by_path);
  get_notices(s);
  armw_notices(s);
}

// 33
void edata(test& t) {
  stage s(t, memory::page);
  for (std::uint64_t value = 0; value < 256; ++value) {
    t.done(s.put_word(value, 0, lcl_notice | rmt_notice, value), "a put");
    const std::uint64_t local = s.await(UTOFU_MRQ_TYPE_LCL_PUT, "a put").edata;
    t.require(local == value, "edata %lu comes back as %lu", value, local);
    if (value % 16 != 15) continue;
    for (std::uint64_t past = value - 15; past <= value; ++past) {
      const noticed remote = s.there.notice(s.far);
      t.require(remote.is(UTOFU_MRQ_TYPE_RMT_PUT) && remote.notice.edata == past,
                "edata %lu arrives as %lu", past, remote.notice.edata);
    }
  }
}

}  // namespace

std::vector<test_case> notice_tests() {
  return {
      {32,
       "Notices name the other VCQ without its path, and the place past the data",
       kind::must,
       {},
       fields},
      {33, "All 256 values of edata arrive", kind::must, {}, edata},
  };
}

}  // namespace conformance
