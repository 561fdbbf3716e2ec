// SPDX-License-Identifier: BSD-3-Clause
// Operations on memory (ARMW), and operations posted as descriptors.
#include <array>

#include "stage.h"

namespace conformance {
namespace {

struct armw_case {
  utofu_armw_op op;
  const char* name;
  std::uint64_t old, operand, result;
};

constexpr armw_case cases[] = {
    {UTOFU_ARMW_OP_SWAP, "SWAP", 0x1122334455667788, 0xA1A2A3A4A5A6A7A8, 0xA1A2A3A4A5A6A7A8},
    {UTOFU_ARMW_OP_ADD, "ADD", 0xFFFFFFFFFFFFFFFF, 2, 1},
    {UTOFU_ARMW_OP_XOR, "XOR", 0xF0F0F0F0F0F0F0F0, 0xFF00FF00FF00FF00, 0x0FF00FF00FF00FF0},
    {UTOFU_ARMW_OP_AND, "AND", 0xF0F0F0F0F0F0F0F0, 0xFF00FF00FF00FF00, 0xF000F000F000F000},
    {UTOFU_ARMW_OP_OR, "OR", 0xF0F0F0F0F0F0F0F0, 0xFF00FF00FF00FF00, 0xFFF0FFF0FFF0FFF0},
};

void set_word(stage& s, std::uint64_t value, std::size_t at) {
  s.t.done(s.put_word(value, at, lcl_notice), "setting a word");
  s.await(UTOFU_MRQ_TYPE_LCL_PUT, "setting a word");
}

void word_of_8(stage& s, const armw_case& one) {
  test& t = s.t;
  set_word(s, one.old, 64);
  const std::uint64_t old = s.old_value(s.here.post([&] {
    return utofu_armw8(s.here.hdl(), s.far.id, one.op, one.operand, s.to(64), 0, lcl_notice,
                       nullptr);
  }),
                                        one.name);
  t.expect(old == one.old, "%s of 8 bytes says it was %#lx", one.name, old);
  t.expect(s.word(64) == one.result, "%s of 8 bytes makes %#lx", one.name, s.word(64));
}

void word_of_4(stage& s, const armw_case& one) {
  test& t = s.t;
  const auto low = [](std::uint64_t v) { return std::uint32_t(v); };
  set_word(s, 0xEEEEEEEE00000000 | low(one.old), 64);
  const std::uint64_t old = s.old_value(s.here.post([&] {
    return utofu_armw4(s.here.hdl(), s.far.id, one.op, low(one.operand), s.to(64), 0, lcl_notice,
                       nullptr);
  }),
                                        one.name);
  t.expect(low(old) == low(one.old), "%s of 4 bytes says it was %#lx", one.name, old);
  t.presume(old >> 32 == 0, "%s of 4 bytes: the old value is %#lx", one.name, old);
  t.expect(s.word(64) == (0xEEEEEEEE00000000 | low(one.result)), "%s of 4 bytes makes %#lx",
           one.name, s.word(64));
}

/// `compared` against 77: the word becomes 88 if equal.
void cswap(stage& s, bool eight, std::uint64_t compared) {
  test& t = s.t;
  set_word(s, 77, 64);
  const std::uint64_t old = s.old_value(s.here.post([&] {
    return eight ? utofu_cswap8(s.here.hdl(), s.far.id, compared, 88, s.to(64), 0, lcl_notice,
                                nullptr)
                 : utofu_cswap4(s.here.hdl(), s.far.id, std::uint32_t(compared), 88, s.to(64), 0,
                                lcl_notice, nullptr);
  }),
                                        "compare and swap");
  t.expect(old == 77, "compare and swap says it was %lu", old);
  t.expect(s.word(64) == (compared == 77 ? 88u : 77u), "compare with %lu leaves %lu", compared,
           s.word(64));
}

// 25
void all_operations(test& t) {
  stage s(t, memory::page);
  for (const armw_case& one : cases) {
    word_of_8(s, one);
    word_of_4(s, one);
  }
  for (const bool eight : {true, false}) {
    cswap(s, eight, 77);
    cswap(s, eight, 78);
  }
  const int posted = s.add(1, 65, lcl_notice | tcq_notice);
  const int fate = posted != UTOFU_SUCCESS ? posted : s.here.next_notice(1).code;
  t.note("an unaligned word: %s", name_of(fate).c_str());
}

constexpr std::uint64_t adds = 3000;

/// Adds from here, one at a time. If none is lost, the old values rise.
void add_from_here(stage& s, bool rising) {
  std::uint64_t last = 0;
  for (std::uint64_t i = 0; i < adds; ++i) {
    const std::uint64_t old = s.old_value(s.add(1, 64, lcl_notice), "an add");
    s.here.sweep_sent();
    s.t.require(i == 0 || old > last || !rising, "add %lu saw %lu after %lu", i, old, last);
    last = old;
  }
}

/// Adds from here and from another process at once, which goes to `target`.
void add_from_both(stage& s, peer& helper, const far_vcq& by, utofu_vcq_id_t target,
                   utofu_stadd_t at) {
  helper.start_adding({by.index, target, at, adds, 0});
  add_from_here(s, target == s.far.id);
  const reply answer = helper.finish(60);
  s.t.require(answer.code == UTOFU_SUCCESS, "the other process: %s",
              name_of(int(answer.code)).c_str());
}

// 26
void contended(test& t) {
  if (t.others() < 2) t.skip("needs 3 processes");
  stage s(t, memory::page);
  peer& helper = t.other(2);
  const far_vcq by = helper.open(t.tni());
  t.done(by.code, "a VCQ of the other process");
  add_from_both(s, helper, by, s.far.id, s.to(64));
  t.expect(s.word(64) == 2 * adds, "%lu adds through one CQ make %lu", 2 * adds, s.word(64));

  const far_vcq second = s.there.open(t.tni(), UTOFU_VCQ_FLAG_EXCLUSIVE);
  if (second.code != UTOFU_SUCCESS) return;
  const far_memory again = s.there.enroll(second, s.far_memory_index, 0, memory::page);
  t.done(again.code, "registering with a second CQ");
  set_word(s, 0, 64);
  add_from_both(s, helper, by, second.id, again.stadd + 64);
  t.note("through two CQs of the target %lu adds make %lu", 2 * adds, s.word(64));
}

/// Descriptors one after the other, as utofu_post_toq takes them.
struct train {
  std::array<unsigned char, 64 * 64> bytes{};
  std::size_t used = 0;

  template <class Prepare>
  std::size_t append(test& t, Prepare prepare) {
    std::size_t size = 64;
    t.done(prepare(bytes.data() + used, &size), "preparing a descriptor");
    t.require(size > 0 && size <= 64, "a descriptor has %zu bytes", size);
    used += size;
    return size;
  }
};

/// One of four kinds of operation on slot i: its answer goes to word 1024 + 64 i here.
std::size_t append_kind(stage& s, train& all, std::size_t i, unsigned long flags) {
  const utofu_stadd_t there = s.to(64 * i), here = s.from(64 * i);
  const auto h = s.here.hdl();
  switch (i % 4) {
    case 0:
      return all.append(s.t, [&](void* d, std::size_t* n) {
        return utofu_prepare_put(h, s.far.id, here, there, 40, i, flags, d, n);
      });
    case 1:
      return all.append(s.t, [&](void* d, std::size_t* n) {
        return utofu_prepare_put_piggyback(h, s.far.id, s.mine.at(64 * i), there, 32, i, flags, d,
                                           n);
      });
    case 2:
      return all.append(s.t, [&](void* d, std::size_t* n) {
        return utofu_prepare_put_piggyback8(h, s.far.id, i, there, 8, i, flags, d, n);
      });
    default:
      return all.append(s.t, [&](void* d, std::size_t* n) {
        return utofu_prepare_armw8(h, s.far.id, UTOFU_ARMW_OP_ADD, i, there, i, flags, d, n);
      });
  }
}

void check_kind(stage& s, std::size_t i) {
  if (i % 4 < 2) {
    const std::size_t bytes = i % 4 == 0 ? 40 : 32;
    s.t.expect(s.mismatch(64 * i, bytes, i) == bytes, "descriptor %zu: wrong bytes", i);
  } else {
    s.t.expect(s.word(64 * i) == i, "descriptor %zu made %lu", i, s.word(64 * i));
  }
}

/// Posts `count` descriptors at once; only the last has a TCQ notice.
void post_train(stage& s, std::size_t count) {
  test& t = s.t;
  train all;
  int mark = 0;
  s.set(0, 8192, 0);
  for (std::size_t i = 0; i < count; ++i) s.mine.fill(64 * i, 64, i);
  for (std::size_t i = 0; i < count; ++i) {
    append_kind(s, all, i, lcl_notice | (i + 1 == count ? tcq_notice : 0));
  }
  s.here.sweep_sent();
  const int posted = s.here.post(
      [&] { return utofu_post_toq(s.here.hdl(), all.bytes.data(), all.used, &mark); }, 1);
  if (posted == UTOFU_ERR_BUSY || (posted == UTOFU_ERR_INVALID_SIZE && count == 64)) {
    return t.note("%zu descriptors do not fit the TOQ: %s", count, name_of(posted).c_str());
  }
  t.done(posted, "utofu_post_toq");
  for (std::size_t i = 0; i < count; ++i)
    t.require(s.here.next_notice().code == 0, "%zu of %zu notices came", i, count);
  const sent entry = s.here.next_sent();
  t.expect(entry.code == UTOFU_SUCCESS && entry.cbdata == &mark, "the entry of the last of %zu: %s",
           count, name_of(entry.code).c_str());
  t.expect(s.here.next_sent(0.05).code == UTOFU_ERR_NOT_FOUND,
           "%zu descriptors have more than one entry", count);
  for (std::size_t i = 0; i < count; ++i) check_kind(s, i);
}

// 29
void descriptors(test& t) {
  stage s(t, memory::page);
  train sizes;
  std::size_t bytes[4];
  for (std::size_t i = 0; i < 4; ++i) bytes[i] = append_kind(s, sizes, i, 0);
  t.note("descriptors: put %zu, piggyback of 32 %zu, piggyback8 %zu, armw8 %zu bytes", bytes[0],
         bytes[1], bytes[2], bytes[3]);
  t.presume(bytes[0] == 32 && bytes[1] == 64 && bytes[2] == 32 && bytes[3] == 32, "their sizes");
  constexpr std::size_t counts[] = {1, 2, 8, 64};
  for (const std::size_t count : counts) post_train(s, count);
}

}  // namespace

std::vector<test_case> atomic_tests() {
  return {
      {25,
       "Every operation on memory changes it and brings the old value",
       kind::must,
       {},
       all_operations},
      {26, "Adds of several processes through one CQ lose nothing", kind::must, {3}, contended},
      {29, "Prepared descriptors are posted together, 1, 2 and 64", kind::must, {}, descriptors},
  };
}

}  // namespace conformance
