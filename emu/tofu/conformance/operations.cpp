// SPDX-License-Identifier: BSD-3-Clause
// One-sided operations: all sizes and alignments of put and get, piggyback, stride, nop, loopback.
#include <cstring>

#include "stage.h"

namespace conformance {
namespace {

constexpr std::size_t page = memory::page;
constexpr std::size_t most = 16777215;

void put_and_get(stage& s, std::size_t bytes) {
  test& t = s.t;
  const std::size_t target = 256;
  s.mine.fill(0, bytes, bytes);
  s.set(target + bytes, 64, 0x55);
  s.put_now(0, target, bytes, "a put");
  t.expect(s.mismatch(target, bytes, bytes) == bytes, "put of %zu bytes: wrong bytes arrived",
           bytes);
  t.expect(s.differs(target + bytes, 64, 0x55) == 64, "put of %zu bytes: more was written", bytes);
  s.fill(target, bytes, bytes + 1);
  s.mine.set(bytes, 64, 0x66);
  s.get_now(0, target, bytes, "a get");
  t.expect(s.mine.mismatch(0, bytes, bytes + 1) == bytes, "get of %zu bytes: wrong bytes came",
           bytes);
  t.expect(s.mine.differs_from(bytes, 64, 0x66) == 64, "get of %zu bytes: more was written", bytes);
}

/// More than the largest put: refused at the call or failing later, but never done.
void too_much(stage& s, int posted, const char* what) {
  s.t.presume(posted == UTOFU_ERR_INVALID_SIZE, "%s: %s at the call", what,
              name_of(posted).c_str());
  if (posted != UTOFU_SUCCESS) return;
  const int sent = s.here.next_sent(3).code;
  s.t.expect(sent != UTOFU_SUCCESS && sent != UTOFU_ERR_NOT_FOUND, "%s: then %s in the TCQ", what,
             name_of(sent).c_str());
  s.here.sweep();
}

void sizes_in(test& t, origin from) {
  stage s(t, most + 2 * page, 0, from);
  constexpr std::size_t all[] = {1,  2,  3,   4,   7,   8,    9,    31,   32,   33,
                                 63, 64, 255, 256, 257, 1919, 1920, 1921, 3840, 65537};
  for (const std::size_t bytes : all) put_and_get(s, bytes);
  put_and_get(s, most);
  if (t.how().harmless) return;
  too_much(s, s.put(0, 0, most + 1, tcq_notice | lcl_notice), "a put of 16 MiB");
  too_much(s, s.get(0, 0, most + 1, tcq_notice | lcl_notice), "a get of 16 MiB");
}

// 21
void sizes(test& t) {
  sizes_in(t, origin::heap);
  sizes_in(t, origin::shared);
}

// 21's smallest: what nothing at all is.
void nothing(test& t) {
  stage s(t, page);
  const int put = s.put(0, 0, 0, lcl_notice | tcq_notice);
  t.note("a put of 0 bytes: %s", name_of(put).c_str());
  if (put != UTOFU_SUCCESS) return;
  t.note("its TCQ entry: %s", name_of(s.here.next_sent(2).code).c_str());
  t.note("its notice: %s", name_of(s.here.next_notice(2).code).c_str());
}

// 22
void alignments(test& t) {
  stage s(t, page);
  for (std::size_t target = 0; target < 256; ++target) {
    for (std::size_t source = target % 8; source < 256; source += 37) {
      const std::size_t bytes = 1 + (source * 7 + target * 3) % 600;
      s.mine.fill(source, bytes, source + target);
      s.put_now(source, 1024 + target, bytes, "a put");
      const std::size_t bad = s.mismatch(1024 + target, bytes, source + target);
      t.require(bad == bytes, "%zu bytes from offset %zu to %zu: byte %zu is wrong", bytes, source,
                target, bad);
    }
  }
  for (std::size_t source = 0; source < 256; source += 5) {
    s.fill(source, 300, source);
    s.get_now(1024 + 255 - source, source, 300, "a get");
    t.require(s.mine.mismatch(1024 + 255 - source, 300, source) == 300, "a get from offset %zu",
              source);
  }
}

void piggyback_of(stage& s, std::size_t bytes) {
  test& t = s.t;
  memory data(64);
  data.fill(0, bytes, 100 + bytes);
  s.set(0, 128, 0);
  t.done(s.put_data(data.at(), 3, bytes, lcl_notice), "a piggyback put");
  data.set(0, 64, 0xEE);  // the source is ours again
  s.await(UTOFU_MRQ_TYPE_LCL_PUT, "a piggyback put");
  t.expect(s.mismatch(3, bytes, 100 + bytes) == bytes, "piggyback of %zu bytes: wrong bytes",
           bytes);
  t.expect(s.differs(3 + bytes, 64, 0) == 64, "piggyback of %zu bytes: more was written", bytes);
}

void piggyback8_of(stage& s, std::size_t bytes) {
  test& t = s.t;
  std::uint64_t value = 0;
  memory pattern(8);
  pattern.fill(0, 8, bytes);
  std::memcpy(&value, pattern.at(), 8);
  s.set(0, 128, 0);
  t.done(s.here.post([&] {
    return utofu_put_piggyback8(s.here.hdl(), s.far.id, value, s.to(8), bytes, 0, lcl_notice,
                                nullptr);
  }),
         "a put of a word");
  s.await(UTOFU_MRQ_TYPE_LCL_PUT, "a put of a word");
  t.expect(s.mismatch(8, bytes, bytes) == bytes, "%zu bytes of a word: wrong bytes", bytes);
  t.expect(s.differs(8 + bytes, 16, 0) == 16, "%zu bytes of a word: more was written", bytes);
}

// 23
void piggyback(test& t) {
  stage s(t, page);
  for (std::size_t bytes = 1; bytes <= 32; ++bytes) piggyback_of(s, bytes);
  for (std::size_t bytes = 1; bytes <= 8; ++bytes) piggyback8_of(s, bytes);
  memory data(64);
  t.refused(s.put_data(data.at(), 0, 33, 0), UTOFU_ERR_INVALID_SIZE, "a piggyback put of 33 bytes");
}

/// Blocks of 40 bytes every 100 have arrived, and the bytes between are untouched.
template <class Mismatch, class Differs>
void check_blocks(test& t, const char* what, Mismatch mismatch, Differs differs) {
  for (std::size_t block = 0; block < 5; ++block) {
    t.expect(mismatch(block * 100, 40, block) == 40, "%s: block %zu is wrong", what, block);
    t.expect(differs(block * 100 + 40, 60) == 60, "%s: the gap after block %zu was written", what,
             block);
  }
}

/// Takes notices until none comes any more.
int count_all(stage& s, utofu_mrq_notice_type type) {
  int count = 0;
  for (noticed entry = s.here.next_notice(); entry.code != UTOFU_ERR_NOT_FOUND;
       entry = s.here.next_notice(0.2)) {
    s.t.require(entry.is(type), "notice %d: %s", count, name_of(entry.code).c_str());
    ++count;
  }
  return count;
}

// 24
void strides(test& t) {
  stage s(t, page);
  for (std::size_t block = 0; block < 5; ++block) s.mine.fill(block * 100, 40, block);
  t.done(s.here.post([&] {
    return utofu_put_stride(s.here.hdl(), s.far.id, s.from(), s.to(), 40, 100, 5, 0, lcl_notice,
                            nullptr);
  }),
         "a strided put");
  t.note("a put of 5 blocks has %d local notices", count_all(s, UTOFU_MRQ_TYPE_LCL_PUT));
  check_blocks(
      t, "put",
      [&](std::size_t at, std::size_t n, std::size_t seed) { return s.mismatch(at, n, seed); },
      [&](std::size_t at, std::size_t n) { return s.differs(at, n, 0); });
  s.mine.set(0, 600, 0);
  t.done(s.here.post([&] {
    return utofu_get_stride(s.here.hdl(), s.far.id, s.from(), s.to(), 40, 100, 5, 0, lcl_notice,
                            nullptr);
  }),
         "a strided get");
  t.note("a get of 5 blocks has %d", count_all(s, UTOFU_MRQ_TYPE_LCL_GET));
  check_blocks(
      t, "get",
      [&](std::size_t at, std::size_t n, std::size_t seed) { return s.mine.mismatch(at, n, seed); },
      [&](std::size_t at, std::size_t n) { return s.mine.differs_from(at, n, 0); });
}

// 27
void nops(test& t) {
  const std::uint64_t began = now_ns();
  vcq one(t.tni());
  t.done(one.made(), "a VCQ");
  int mark = 0;
  t.done(utofu_nop(one.hdl(), tcq_notice, &mark), "utofu_nop");
  const sent entry = one.next_sent();
  t.expect(entry.code == UTOFU_SUCCESS && entry.cbdata == &mark, "its entry: %s",
           name_of(entry.code).c_str());
  t.done(utofu_nop(one.hdl(), 0, &mark), "utofu_nop without a notice");
  t.expect(one.next_sent(0.1).code == UTOFU_ERR_NOT_FOUND, "one without a notice is shown");
  t.expect(one.next_notice(0.1).code == UTOFU_ERR_NOT_FOUND, "a nop appears in the MRQ");
  t.expect(!has_passed(began + 9000000000u), "nops take seconds");
}

void loop(test& t, vcq& from, const vcq& to, const char* what) {
  const memory area(page);
  const registration source(from, area.at(), page);
  registration target(to, area.at(), page);
  t.done(source.made(), "registering the source");
  t.done(target.made(), "registering the target");
  if (source.stadd() == target.stadd()) target.forget();
  area.fill(0, 3000, 28);
  t.done(from.post([&] {
    return utofu_put(from.hdl(), to.id(), source.stadd(), target.stadd() + 8192, 3000, 0,
                     lcl_notice, nullptr);
  }),
         what);
  const noticed entry = from.next_notice();
  t.require(entry.is(UTOFU_MRQ_TYPE_LCL_PUT), "%s: %s", what, name_of(entry.code).c_str());
  t.expect(area.mismatch(8192, 3000, 28) == 3000, "%s: wrong bytes", what);
}

// 28
void loopback(test& t) {
  vcq first = vcq::with_cmp_id(t.tni(), 1), second = vcq::with_cmp_id(t.tni(), 2),
      other(t.tni(), UTOFU_VCQ_FLAG_EXCLUSIVE);
  t.done(first.made(), "cmp_id 1");
  t.done(second.made(), "cmp_id 2");
  loop(t, first, first, "a put to the VCQ itself");
  loop(t, first, second, "a put to another VCQ of the process");
  if (other.ok()) loop(t, first, other, "a put to another CQ of the process");
}

}  // namespace

std::vector<test_case> operation_tests() {
  return {
      {21, "Puts and gets of all sizes bring exactly their bytes", kind::must, {}, sizes},
      {22, "Puts and gets work from and to any alignment", kind::must, {}, alignments},
      {23, "Piggyback puts take their bytes at the call", kind::must, {}, piggyback},
      {24, "Strided puts and gets leave the gaps alone", kind::must, {}, strides},
      {27, "A nop is nothing but an entry in the TCQ", kind::must, {}, nops},
      {28, "A process can put to itself", kind::must, {}, loopback},
      {56, "What a put of no bytes does", kind::reports, {1, false, true}, nothing},
  };
}

}  // namespace conformance
