// SPDX-License-Identifier: BSD-3-Clause
#include "tracing/trace_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tracing/operation.h"

namespace heddle::trace {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class TraceFile : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }
  [[nodiscard]] json read(const std::string& name) const {
    std::ifstream file(path(name));
    return json::parse(file);
  }
  template <class Work>
  static std::string said(Work&& work) {
    testing::internal::CaptureStderr();
    work();
    return testing::internal::GetCapturedStderr();
  }

 private:
  const std::string folder_ = [] {
    std::string name = (std::filesystem::temp_directory_path() / "heddle_trace_XXXXXX").string();
    return std::string(mkdtemp(name.data()));
  }();
};

TEST_F(TraceFile, HasAnOperationThatEndedAtOnceAsASliceOfItsThread) {
  trace_file file(path("t.json"), 3, 4, 1, 64);
  operation o({operation_kind::put, 3, 1, 2, 0, 100});
  (void)o.answered(status::done);
  file.write({3, 4, "a \"host\""});
  const json all = read("t.3.json");
  const json& slice = all["traceEvents"][1];
  EXPECT_EQ(slice["name"], "put");
  EXPECT_EQ(slice["ph"], "X");
  EXPECT_EQ(slice["pid"], 3);
  EXPECT_EQ(slice["tid"], gettid());
  EXPECT_GE(slice["dur"], 0.0);
  EXPECT_EQ(slice["args"]["bytes"], 100);
  EXPECT_EQ(slice["args"]["status"], "done");
  EXPECT_EQ(slice["args"]["ended_by"], "owner");
  EXPECT_EQ(all["otherData"]["host"], "a \"host\"");
  EXPECT_EQ(all["otherData"]["lost_events"], 0);
}

TEST_F(TraceFile, TimesTheFirstOperationAlsoWhereAThreadHasBeenRecordedBefore) {
  const auto put = [] {
    (void)operation({operation_kind::put, 3, 1, 2, 0, 8}).answered(status::done);
  };
  {
    const recording before(1, 64);
    put();
  }
  trace_file file(path("t.json"), 3, 1, 1, 64);
  put();
  file.write({3, 1, "host"});
  EXPECT_EQ(read("t.json")["traceEvents"][1]["ph"], "X");
}

TEST_F(TraceFile, HasOperationsThatWereNotTimedBetweenTheEventsAroundThem) {
  trace_file file(path("t.json"), 3, 1, 1, 64);
  std::thread([] {
    for (int i = 0; i < 3; ++i)
      (void)operation({operation_kind::put, 3, 1, 2, 0, 8}).answered(status::done);
    note_at(event_kind::wake, {3, 1}, 1);
  }).join();
  file.write({3, 1, "host"});
  const json events = read("t.json")["traceEvents"];
  EXPECT_EQ(events[1]["ph"], "X");
  EXPECT_FALSE(events[1]["args"].contains("clock"));
  for (std::size_t i = 2; i < 4; ++i) {
    EXPECT_EQ(events[i]["ph"], "i");
    EXPECT_EQ(events[i]["args"]["clock"], "shared");
    EXPECT_GE(events[i]["ts"], events[i - 1]["ts"]);
    EXPECT_LE(events[i]["ts"], events[i + 1]["ts"]);
  }
  EXPECT_EQ(events[4]["name"], "wake");
}

TEST_F(TraceFile, HasAPostedOperationAsABeginAndAnEndOfOneNumber) {
  trace_file file(path("t.json"), 3, 1, 1, 64);
  operation o({operation_kind::recv, 3, 1, 2, 77, 100});
  const completion ended = o.instead_of({});
  (void)o.answered(status::posted);
  ended({.code = status::done, .peer = 2, .tag = 77, .bytes = 8});
  file.write({3, 1, "host"});
  const json events = read("t.json")["traceEvents"];
  EXPECT_EQ(events[1]["ph"], "b");
  EXPECT_EQ(events[2]["ph"], "e");
  EXPECT_EQ(events[1]["id2"], events[2]["id2"]);
  EXPECT_LE(events[1]["ts"], events[2]["ts"]);
  EXPECT_EQ(events[2]["args"]["tag"], "77");
}

TEST_F(TraceFile, NamesItsRankAndThreads) {
  trace_file file(path("%r/../t.%r.json"), 3, 4, 1, 64);
  note_at(event_kind::wake, {3, -1}, 1);
  file.write({3, 4, "host"});
  EXPECT_FALSE(std::filesystem::exists(path("t.3.json")));  // there is no folder 3
  trace_file second(path("t.%r.json"), 3, 4, 1, 64);
  note_at(event_kind::wake, {3, -1}, 1);
  second.write({3, 4, "host"});
  const json events = read("t.3.json")["traceEvents"];
  EXPECT_EQ(events.front()["args"]["name"], "rank 3 on host");
  EXPECT_EQ(events.back()["name"], "thread_name");
  EXPECT_EQ(events.back()["args"]["name"], "owner " + std::to_string(gettid()));
}

TEST_F(TraceFile, ThatCannotBeOpenedIsAWarningWithCauseAndCure) {
  EXPECT_THAT(said([&] {
                trace_file file(path("absent/t.json"), 0, 1, 1, 64);
                file.write({});
              }),
              testing::AllOf(HasSubstr("absent/t.json cannot be written: No such file"),
                             HasSubstr("give HEDDLE_TRACE another place")));
}

TEST_F(TraceFile, OnAFullDiskIsAWarning) {
  EXPECT_THAT(said([] {
                trace_file file("/dev/full", 0, 1, 1, 64);
                file.write({});
              }),
              HasSubstr("/dev/full cannot be written: No space left on device"));
}

TEST_F(TraceFile, WarnsOfWhatItLacks) {
  std::string text;
  text = said([&] {
    trace_file file(path("t.json"), 3, 1, 1, 64);
    std::thread([] {
      for (int i = 0; i < 1 << 18; ++i) note_at(event_kind::wake, {3, -1}, 1);
    }).join();
    file.write({3, 1, "host"});
  });
  EXPECT_THAT(text, HasSubstr("HEDDLE_TRACE_EVENTS keeps more"));
  EXPECT_GT(read("t.json")["otherData"]["lost_events"], 0);
}

TEST(TracePath, HasTheRankWhereItIsAskedForOrBeforeTheLastDot) {
  EXPECT_EQ(path_for("/tmp/t.%r.json", 7, 8), "/tmp/t.7.json");
  EXPECT_EQ(path_for("%r/%r", 7, 8), "7/7");
  EXPECT_EQ(path_for("/tmp/a.b/t.json", 7, 8), "/tmp/a.b/t.7.json");
  EXPECT_EQ(path_for("/tmp/a.b/t", 7, 8), "/tmp/a.b/t.7");
  EXPECT_EQ(path_for("t.json", 0, 1), "t.json");
}

}  // namespace
}  // namespace heddle::trace
