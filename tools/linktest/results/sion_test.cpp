// SPDX-License-Identifier: BSD-3-Clause
// sion_test.cpp - SION files byte by byte, LinkTest's records in them, and bytes of ill will.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <cmath>
#include <filesystem>
#include <random>

#include "linktest/results/bytes.h"
#include "linktest/results/json_document.h"
#include "linktest/results/json_file.h"
#include "linktest/results/linktest1.h"
#include "linktest/results/output.h"
#include "linktest/results/reading.h"
#include "linktest/results/sample.h"
#include "linktest/results/sion_file.h"

namespace heddle::linktest {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

template <class Number>
Number at(const std::string& bytes, std::size_t offset, bool big = false) {
  return byte_reader(std::string_view(bytes).substr(offset), big).number<Number>();
}

const std::vector<std::string> three{"first stream", "", std::string(5000, 'x')};

TEST(SionFile, HasEachFieldOfItsHeaderInItsPlace) {
  const std::string file = to_sion(three, 1, "x.sion").at(0);
  EXPECT_EQ(file.substr(0, 4), "sion");
  EXPECT_EQ(at<std::int32_t>(file, 4), 0) << "little endian";
  EXPECT_EQ(at<std::int32_t>(file, 16), 5) << "format";
  EXPECT_EQ(at<std::int32_t>(file, 20), 4096) << "block";
  EXPECT_EQ(at<std::int32_t>(file, 24), 3) << "tasks";
  EXPECT_EQ(at<std::int32_t>(file, 28), 1) << "files";
  EXPECT_EQ(at<std::int64_t>(file, 36), std::int64_t{50} << 32) << "no keys and values";
  EXPECT_EQ(file.substr(52, 6), "x.sion");
  const std::size_t ranks = 1076, sizes = ranks + 3 * 8, end = sizes + 3 * 8;
  for (std::int64_t t = 0; t < 3; ++t)
    EXPECT_EQ(at<std::int64_t>(file, ranks + static_cast<std::size_t>(t) * 8), t);
  EXPECT_EQ(at<std::int64_t>(file, sizes), 4096);
  EXPECT_EQ(at<std::int64_t>(file, sizes + 8), 4096) << "an empty stream has a chunk as well";
  EXPECT_EQ(at<std::int64_t>(file, sizes + 16), 8192);
  EXPECT_EQ(at<std::int32_t>(file, end), 1) << "chunks";
  const std::int64_t index = 4096 + 4096 + 4096 + 8192;
  EXPECT_EQ(at<std::int64_t>(file, end + 4), index);
  EXPECT_EQ(file.substr(4096, 12), "first stream");
  const auto second = static_cast<std::size_t>(index);
  EXPECT_EQ(at<std::int64_t>(file, second), 1);
  EXPECT_EQ(at<std::int64_t>(file, second + 24), 12);
  EXPECT_EQ(at<std::int64_t>(file, second + 32), 0);
  EXPECT_EQ(at<std::int64_t>(file, second + 40), 5000);
  EXPECT_EQ(at<std::int32_t>(file, second + 48), 0) << "no mapping";
  EXPECT_EQ(file.size(), second + 52);
}

TEST(SionFile, KeepsTheMappingOfAllRanksInTheFirstFileOfASet) {
  const std::vector<std::string> streams{"a", "b", "c", "d"};
  const auto files = to_sion(streams, 2, "set");
  ASSERT_EQ(files.size(), 2u);
  const auto index = static_cast<std::size_t>(at<std::int64_t>(files[0], 1076 + 2 * 16 + 4));
  const std::size_t mapping = index + 2 * 16;
  EXPECT_EQ(at<std::int32_t>(files[0], mapping), 4);
  const std::vector<std::int32_t> expected{0, 0, 0, 1, 1, 0, 1, 1};  // file and task in it
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_EQ(at<std::int32_t>(files[0], mapping + 4 + 4 * i), expected[i]) << i;
  EXPECT_EQ(parse_sion(files[1]).ranks, (std::vector<std::int64_t>{2, 3}));
  EXPECT_EQ(parse_sion(files[1]).streams, (std::vector<std::string>{"c", "d"}));
}

TEST(SionFile, HasNoMoreFilesThanTasks) {
  EXPECT_EQ(to_sion({"a", "b"}, 9, "set").size(), 2u);
}

/// The smallest file of two tasks in two chunks each, unaligned, as the collective writer packs
/// them.
std::string packed(bool big) {
  byte_writer out;
  const auto put = [&](auto value) {
    byte_writer one;
    one.number(value);
    std::string raw = one.take();
    if (big) std::reverse(raw.begin(), raw.end());
    out.text(raw);
  };
  out.text("sion");
  out.text(big ? std::string(4, '\1') : std::string(4, '\0'));
  for (const std::int32_t v : {1007, 6, 5, 512, 2, 1, 0}) put(v);
  put(std::int64_t{0});
  put(std::int64_t{0});
  out.zeros(1024);
  for (const std::int64_t v : {0, 1, 3, 2}) put(v);  // ranks, sizes of chunks
  put(std::int32_t{2});
  put(std::int64_t{1536 + 10});
  out.zeros(1536 - out.size());
  out.text("abcXYdefZ.");
  for (const std::int64_t v : {2, 2, 3, 2, 2, -1}) put(v);  // chunks used, then bytes in each
  return out.take();
}

TEST(SionFile, IsReadInEitherByteOrderWithStreamsOverSeveralChunksAndWithoutMapping) {
  for (const bool big : {false, true}) {
    const sion_part part = parse_sion(packed(big));
    EXPECT_EQ(part.big_endian, big);
    EXPECT_EQ(part.streams, (std::vector<std::string>{"abcde", "XY"})) << big;
  }
}

std::string refusal(const std::string& bytes) {
  try {
    (void)parse_sion(bytes);
  } catch (const error& why) {
    return why.what();
  }
  return {};
}

TEST(SionFile, IsRefusedWithTheReason) {
  const std::string good = to_sion(three, 1, "x").at(0);
  EXPECT_THAT(refusal("text"), HasSubstr("does not begin with \"sion\""));
  EXPECT_THAT(refusal(good.substr(0, 600)), HasSubstr("ends within its header"));
  const auto with = [&](std::size_t offset, std::int64_t value, std::size_t bytes) {
    std::string bad = good;
    byte_writer out;
    out.number(value);
    bad.replace(offset, bytes, out.take().substr(0, bytes));
    return refusal(bad);
  };
  EXPECT_THAT(with(4, 0x01000000, 4), HasSubstr("byte order"));
  EXPECT_THAT(with(16, 9, 4), HasSubstr("format version is 9"));
  EXPECT_THAT(with(24, 1 << 30, 4), HasSubstr("sizes of its tasks"));
  EXPECT_THAT(with(1076 + 6 * 8 + 4, 0, 8), HasSubstr("never closed"));
  EXPECT_THAT(with(1076 + 6 * 8 + 4, 1 << 20, 8), HasSubstr("ends before its index"));
}

TEST(SionFile, NeverReadsOutsideOfHostileBytes) {
  std::mt19937_64 random(1);
  const std::vector<std::string> seeds{to_sion(three, 1, "x").at(0), packed(true), packed(false)};
  int refused = 0;
  constexpr int tries = 30'000;
  for (int i = 0; i < tries; ++i) {
    std::string bytes = seeds[random() % seeds.size()];
    for (std::uint64_t k = random() % 6; k < 6; ++k) {
      // Most of what matters is in the first 1200 bytes and near the end.
      const std::size_t range =
          random() % 2 == 0 ? std::min<std::size_t>(bytes.size(), 1200) : bytes.size();
      constexpr char extremes[]{'\0', '\1', '\x7f', '\xff'};
      bytes[random() % range] =
          random() % 2 == 0 ? extremes[random() % 4] : static_cast<char>(random());
    }
    if (random() % 4 == 0) bytes.resize(random() % bytes.size());
    try {
      const sion_part part = parse_sion(bytes);
      std::size_t total = 0;
      for (const std::string& stream : part.streams) total += stream.size();
      EXPECT_LE(total, bytes.size());
    } catch (const error&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, tries / 10);
  EXPECT_LT(refused, tries);
}

// --- LinkTest's records ---

run_record sample() {
  run_facts facts;
  facts.hosts = {"alpha", "alpha", "beta", "beta"};
  facts.chosen.sizes = {131072};
  facts.chosen.messages = 7;
  facts.chosen.mode = run_mode::serial;
  results all(4, kernel::semi, {131072});
  for (int r = 0; r < 4; ++r) {
    row mine(1, 4, 1);
    for (int p = 0; p < 4; ++p)
      if (p != r && r + p != 5) mine.add_time(0, p, (10 * r + p + 1) * 1e-6);
    all.set_row(r, mine.records());
  }
  return {facts, all};
}

TEST(LinkTest1, StreamsAreAsLongAsLinkTestsOwn) {
  const run_record run = sample();
  const auto streams = to_linktest1(run.facts, run.all, 0);
  ASSERT_EQ(streams.size(), 4u);
  EXPECT_EQ(streams[0].size(), 553u);  // as a file of LinkTest 1.2p1 with four tasks has
  for (int r : {1, 2, 3}) EXPECT_EQ(streams[static_cast<std::size_t>(r)].size(), 337u);
}

TEST(LinkTest1, StreamHoldsEachFieldInItsPlace) {
  const run_record run = sample();
  const auto streams = to_linktest1(run.facts, run.all, 0);
  const std::string& first = streams[0];
  EXPECT_EQ(first.substr(0, 5), "LKTST");
  EXPECT_EQ(at<std::int32_t>(first, 5), 1);
  EXPECT_EQ(at<std::int32_t>(first, 9), 2);
  EXPECT_STREQ(first.data() + 17, "alpha");
  const std::size_t summary = 17 + 256 + 16;
  EXPECT_EQ(at<std::int32_t>(first, summary), 7) << "messages";
  EXPECT_EQ(at<std::int32_t>(first, summary + 4), 131072);
  EXPECT_EQ(at<std::int32_t>(first, summary + 16), 1) << "serial";
  EXPECT_NEAR(at<double>(first, summary + 40), 2e-6, 1e-11) << "least";
  const std::size_t times = summary + 120;
  EXPECT_EQ(at<double>(first, times), 0) << "to itself";
  EXPECT_NEAR(at<double>(first, times + 8), 2e-6, 1e-11);
  // In each step every rank has another partner.
  std::vector<int> steps;
  for (std::size_t p = 1; p < 4; ++p) steps.push_back(at<std::int32_t>(first, times + 32 + 4 * p));
  EXPECT_THAT(steps, ::testing::UnorderedElementsAre(0, 1, 2));
  EXPECT_EQ(at<double>(streams[2], 17 + 256 + 16 + 3 * 8), 0) << "a pair that was not measured";
}

TEST(LinkTest1, FilesAreReadBackWithHostsTimesAndWhatWasNotMeasured) {
  const run_record run = sample();
  fs::path folder = fs::path(::testing::TempDir()) / "sion_XXXXXX";
  std::string name = folder.string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  for (const int files : {1, 3}) {
    const std::string path = name + "/x.sion";
    const auto parts = to_sion(to_linktest1(run.facts, run.all, 0), files, "x.sion");
    for (std::size_t f = 0; f < parts.size(); ++f)
      write_text(sion_part_name(path, static_cast<int>(f)), parts[f]);
    const run_record again = read_results(path);
    EXPECT_EQ(again.facts.hosts, run.facts.hosts);
    EXPECT_EQ(again.facts.chosen.messages, 7u);
    EXPECT_EQ(again.facts.chosen.mode, run_mode::serial);
    EXPECT_EQ(again.all.sizes(), run.all.sizes());
    EXPECT_FLOAT_EQ(again.all.at(0, 3, 1).time.median, run.all.at(0, 3, 1).time.median);
    EXPECT_EQ(again.all.at(0, 2, 3).state, pair_state::unmeasured);
    EXPECT_EQ(again.all.count(pair_state::measured), 10u);
  }
  fs::remove(name + "/x.sion.000002");
  try {
    (void)read_results(name + "/x.sion");
    ADD_FAILURE();
  } catch (const error& why) {
    EXPECT_THAT(why.what(), HasSubstr("x.sion.000002"));
  }
  fs::remove_all(name);
}

/// What is read of a file of this name.
run_record read_back(std::vector<std::string> streams, const std::string& name) {
  return from_linktest1({std::move(streams), false, name});
}

TEST(LinkTest1, FilesReadAloneSayModeKernelAndOpOfTheirRun) {
  run_record run = sample();
  for (const run_mode mode : {run_mode::serial, run_mode::parallel}) {
    for (const kernel k : {kernel::semi, kernel::bi, kernel::uni}) {
      for (const operation op : all_operations) {
        run.facts.chosen.mode = mode;
        run.facts.chosen.kernel = k;
        run.facts.chosen.op = op;
        const auto streams = to_linktest1(run.facts, run.all, 0);
        const options told =
            from_linktest1({parse_sion(to_sion(streams, 1, "any").at(0)).streams, false, ""})
                .facts.chosen;
        EXPECT_EQ(told.mode, mode);
        EXPECT_EQ(told.kernel, k);
        EXPECT_EQ(told.op, op);
        EXPECT_EQ(told.layer, "unknown");
      }
    }
  }
}

TEST(LinkTest1, KernelAndOpOfOurFilesWithoutThemAreUnknownAndOfLinkTestsAreItsOnlyOnes) {
  const run_record run = sample();
  auto streams = to_linktest1(run.facts, run.all, 0);
  streams[0].replace(17 + 256 + 16 + 24, 8, 8, '\0');
  const auto label = [](const options& o) {
    return std::string(name_of(o.kernel)) + ',' + std::string(name_of(o.op));
  };
  EXPECT_EQ(label(read_back(streams, "pingpong_results_bin.sion").facts.chosen), "semi,send");
  const run_record ours = read_back(streams, linktest1_name(131072));
  EXPECT_EQ(label(ours.facts.chosen), "unknown,unknown");
  EXPECT_TRUE(std::isnan(ours.all.value(0, 3, 1, metric::bandwidth)));
  const run_record again = from_json(text_of(write_json, ours.facts, ours.all));
  EXPECT_EQ(label(again.facts.chosen), "unknown,unknown");
  streams[0].replace(17 + 256 + 16 + 24, 8, 8, '\x7f');
  EXPECT_EQ(label(read_back(streams, "any").facts.chosen), "unknown,unknown") << "no such numbers";
}

TEST(LinkTest1, FilesHaveTheirSetsNameInThem) {
  const std::string name = linktest1_name(8);
  EXPECT_EQ(name, "linktest-8.sion");
  EXPECT_EQ(parse_sion(to_sion({"a", "b"}, 2, name).at(0)).name, name);
}

TEST(LinkTest1, OtherStreamsAreRefusedWithTheReason) {
  const auto reason = [](std::vector<std::string> streams) -> std::string {
    try {
      (void)read_back(std::move(streams), "any");
    } catch (const error& why) {
      return why.what();
    }
    return {};
  };
  EXPECT_THAT(reason({"LinkTest"}), HasSubstr("not those of LinkTest 1.x"));
  const run_record run = sample();
  auto streams = to_linktest1(run.facts, run.all, 0);
  streams[3].resize(300);
  EXPECT_THAT(reason(streams), HasSubstr("stream of rank 3"));
  streams[0][5] = 2;
  EXPECT_THAT(reason(streams), HasSubstr("LinkTest 2.2"));
}

}  // namespace
}  // namespace heddle::linktest
