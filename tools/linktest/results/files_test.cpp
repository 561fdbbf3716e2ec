// SPDX-License-Identifier: BSD-3-Clause
// files_test.cpp - what is written can be read back, whole or not at all.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "linktest/results/hdf5_file.h"
#include "linktest/results/json_document.h"
#include "linktest/results/json_file.h"
#include "linktest/results/output.h"
#include "linktest/results/reading.h"
#include "linktest/results/sample.h"
#include "linktest/results/test_folder.h"

namespace heddle::linktest {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;
class Files : public in_test_folder {};

/// nlohmann's own writing of a whole document is what the stream must give.
TEST_F(Files, JsonIsStreamedAsItWouldBeWrittenAtOnce) {
  constexpr int ranks = most_ranks_of_matrices + 1;
  run_facts many = sample_facts();
  many.hosts.assign(ranks, "alpha");
  const results nothing(ranks, kernel::semi, {8});
  const std::string whole = text_of(write_json, facts_of_a_missed_rule(), sample_results());
  const std::string summary = text_of(write_json_summary, sample_facts(), sample_results());
  const std::string empty = text_of(write_json, many, nothing);
  EXPECT_THAT(empty, HasSubstr("\"initiator\": []"));
  for (const std::string& text : {whole, summary, empty})
    EXPECT_EQ(nlohmann::ordered_json::parse(text).dump(1) + '\n', text);
}

TEST_F(Files, ASampleIsReadBackAsWhole) {
  results all = sample_results();
  all.set_sample(1);
  ASSERT_EQ(all.missing(), 2u) << "one is lost and one corrupted";
  write_hdf5(in_root("x.h5"), sample_facts(), all);
  EXPECT_EQ(read_hdf5(in_root("x.h5")).all.missing(), all.missing());
  EXPECT_EQ(from_json(text_of(write_json, sample_facts(), all)).all.missing(), all.missing());
}

TEST_F(Files, BytesThatAreNoTextLoseNoFile) {
  run_facts facts = sample_facts();
  facts.command = "heddle linktest --output /m\xfcller";
  write_hdf5(in_root("x.h5"), facts, sample_results());
  EXPECT_EQ(read_hdf5(in_root("x.h5")).facts.command, "heddle linktest --output /m\uFFFDller");
  EXPECT_THAT(text_of(write_json, facts, sample_results()), HasSubstr("m\uFFFDller"));
}

TEST_F(Files, JsonHoldsTheSameWithNullForWhatWasNotMeasured) {
  const auto doc = nlohmann::json::parse(text_of(write_json, sample_facts(), sample_results()));
  EXPECT_EQ(doc["format"], "heddle-linktest");
  EXPECT_EQ(doc["schema_version"], json_schema_version);
  EXPECT_EQ(doc["options"]["seed"], ~std::uint64_t{0});
  EXPECT_EQ(doc["options"]["sizes"], (std::vector<int>{8, 1024}));
  EXPECT_EQ(doc["hosts"][2], "beta");
  EXPECT_EQ(doc["complete"], false);
  EXPECT_EQ(doc["metrics"]["bandwidth"]["unit"], "B/s");
  const auto& large = doc["sizes"][1];
  EXPECT_EQ(large["bytes"], 1024);
  EXPECT_NEAR(large["matrices"]["time_median"][2][1].get<double>(), 21e-6, 1e-11);
  EXPECT_TRUE(large["matrices"]["time_median"][1][2].is_null());
  EXPECT_TRUE(large["matrices"]["bandwidth"][0][0].is_null());
  EXPECT_TRUE(large["matrices"]["time_median"][1][2].is_null());
  EXPECT_TRUE(large["matrices"]["bandwidth"][0][0].is_null());
  EXPECT_EQ(large["matrices"]["state"][2][0], "corrupted");
  EXPECT_NEAR(large["summary"]["time"]["max"].get<double>(), 21e-6, 1e-6 * 21e-6);
  ASSERT_EQ(large["slowest"].size(), 1u);
  EXPECT_EQ(large["slowest"][0]["initiator"], 1) << "compared with pairs of its class";
  EXPECT_EQ(large["slowest"][0]["initiator_host"], "alpha");
}

TEST_F(Files, Hdf5AndJsonAreReadBackWithNothingLost) {
  const run_facts facts = facts_of_a_missed_rule();
  const results all = sample_results();
  write_hdf5(in_root("linktest.h5"), facts, all);
  expect_same_run(read_results(in_root("linktest.h5")), facts, all);
  expect_same_run(read_results(root_.string()), facts, all);
  write_text(in_root("any name"), text_of(write_json, facts, all));
  expect_same_run(read_results(in_root("any name")), facts, all);
}

TEST_F(Files, GroupsAreKeptByRankAndFilesOfBeforeThereWereAnyAreRead) {
  run_facts facts = facts_of_a_missed_rule();
  const results all = sample_results();
  facts.groups = {"rack1", "rack1", "rack2"};
  write_hdf5(in_root("linktest.h5"), facts, all);
  expect_same_run(read_results(in_root("linktest.h5")), facts, all);
  auto doc = nlohmann::ordered_json::parse(text_of(write_json, facts, all));
  EXPECT_EQ(doc["groups"][2], "rack2");
  doc["groups"].erase(2);
  EXPECT_THROW((void)from_json(doc.dump()), error) << "a rank has none";
  doc.erase("groups");
  facts.groups.clear();
  expect_same_run(from_json(doc.dump()), facts, all);
}

TEST_F(Files, WhatIsNoResultIsRefusedByNameWithWhatCanBeRead) {
  const auto refusal = [](const std::string& path) -> std::string {
    try {
      (void)read_results(path);
    } catch (const error& why) {
      return why.what();
    }
    return {};
  };
  EXPECT_THAT(refusal(in_root("x")), HasSubstr("no such file"));
  EXPECT_THAT(refusal(root_.string()), HasSubstr("neither linktest.h5 nor linktest.json"));
  write_text(in_root("a.txt"), "hello");
  EXPECT_THAT(refusal(in_root("a.txt")), HasSubstr("SION file of LinkTest 1.x"));
  write_text(in_root("b.json"), "{\"format\": \"other\"}");
  EXPECT_THAT(refusal(in_root("b.json")), HasSubstr("not a result of heddle linktest"));
  const std::string whole = text_of(write_json, sample_facts(), sample_results());
  write_text(in_root("c.json"), whole.substr(0, whole.size() / 2));
  EXPECT_THAT(refusal(in_root("c.json")), HasSubstr("not a whole result"));
  auto doc = nlohmann::json::parse(whole);
  doc["schema_version"] = json_schema_version + 1;
  write_text(in_root("d.json"), doc.dump());
  EXPECT_THAT(refusal(in_root("d.json")), HasSubstr("use a newer one"));
  doc["schema_version"] = 1;
  doc["sizes"][0]["matrices"]["state"].erase(1);
  write_text(in_root("e.json"), doc.dump());
  EXPECT_THAT(refusal(in_root("e.json")), HasSubstr("row for every rank"));
  write_hdf5(in_root("f.h5"), sample_facts(), sample_results());
  fs::resize_file(in_root("f.h5"), fs::file_size(in_root("f.h5")) / 2);
  EXPECT_THAT(refusal(in_root("f.h5")), HasSubstr("is it whole?"));
}

TEST_F(Files, RoomIsProvenForMoreThanBothFilesTake) {
  const std::string path = in_root("x.h5");
  write_hdf5(path, sample_facts(), sample_results());
  EXPECT_GT(bytes_needed(3, 6, 2),
            fs::file_size(path) + text_of(write_json, sample_facts(), sample_results()).size());
}

}  // namespace
}  // namespace heddle::linktest
