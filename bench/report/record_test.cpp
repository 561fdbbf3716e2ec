// SPDX-License-Identifier: BSD-3-Clause
// record_test.cpp - the records' file format, and files that are not it.
#include "report/record.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <stdexcept>

namespace heddle::bench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

record example() {
  record r{.benchmark = "rate",
           .op = "put",
           .backend = "shm",
           .library = "heddle",
           .ranks = 2,
           .threads = 1,
           .bytes = 8,
           .metric = "rate",
           .unit = "M/s"};
  set_statistics(r, summarize({1, 2, 3, 4, 5}));
  return r;
}

TEST(Records, HaveExactlyTheAgreedFieldsInOrder) {
  EXPECT_EQ(to_json({example()}), R"([
  {
    "benchmark": "rate",
    "op": "put",
    "backend": "shm",
    "library": "heddle",
    "ranks": 2,
    "threads": 1,
    "bytes": 8,
    "metric": "rate",
    "unit": "M/s",
    "median": 3.0,
    "p99": 5.0,
    "ci95_low": 1.0,
    "ci95_high": 5.0,
    "runs": 5
  }
]
)");
}

TEST(Records, ComeBackAsTheyWereAlsoFromAFile) {
  record other = example();
  other.library = "heddle/ucx";
  other.median = 1.0 / 3;
  other.setup = "plain buffers";
  other.rounds = {1, 2.5};
  const std::string file = testing::TempDir() + "heddle_record_test.json";
  for (const auto& records : {std::vector<record>{}, {example(), other}}) {
    EXPECT_EQ(records_from_json(to_json(records)), records);
    write_records(file, records);
    EXPECT_EQ(read_records(file), records);
  }
  std::remove(file.c_str());
}

TEST(Records, ThatAreNoneAreRefusedByNameOfFieldOrFile) {
  std::string text = to_json({example()});
  text.replace(text.find("\"unit\""), 6, "\"unlt\"");
  EXPECT_THAT([&] { (void)records_from_json(text); },
              ThrowsMessage<std::runtime_error>(HasSubstr("unit")));
  EXPECT_THROW((void)records_from_json("[{"), std::runtime_error);
  EXPECT_THAT([] { (void)read_records("/nonexistent/records.json"); },
              ThrowsMessage<std::runtime_error>(HasSubstr("/nonexistent/records.json")));
  EXPECT_THROW(write_records("/nonexistent/records.json", {}), std::runtime_error);
}

}  // namespace
}  // namespace heddle::bench
