// SPDX-License-Identifier: BSD-3-Clause
// task_test.cpp - tasks and rounds as text and back, also among other lines, and broken.
#include "libraries/task.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <stdexcept>

namespace heddle::bench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::ThrowsMessage;

task reparsed(const task& t) {
  std::vector<std::string> words = words_of(t);
  words.insert(words.begin(), "program");
  std::vector<char*> arguments;
  for (std::string& w : words) arguments.push_back(w.data());
  return parse(static_cast<int>(arguments.size()), arguments.data());
}

TEST(Task, ComesBackFromItsWords) {
  task t{.what = {.what = kind::gups, .op = operation::put, .threads = 3, .lanes = 2, .window = 8},
         .cores = {0, 3},
         .limit = std::chrono::seconds(7)};
  t.what.time = std::chrono::milliseconds(5);
  t.what.memory_bytes = 4096;
  t.what.atomic = true;
  t.what.who = computing::receiver;
  t.what.compute_us = 20.5;
  t.what.buffers = buffer_kind::exposed;
  const task back = reparsed(t);
  EXPECT_EQ(words_of(back), words_of(t));
  EXPECT_EQ(back.cores, t.cores);
  EXPECT_EQ(back.patience(), std::chrono::seconds(8)) << "and its own time";
  EXPECT_EQ(back.what.memory_bytes, 4096u);
  EXPECT_TRUE(back.what.atomic);
  EXPECT_EQ(back.what.buffers, buffer_kind::exposed);
}

TEST(Task, HasAPathPerThreadUnlessFewerAreAskedForAndNamesNoCoresUnbound) {
  EXPECT_EQ((task{.what = {.threads = 4}}.paths()), 4);
  EXPECT_EQ((task{.what = {.threads = 4, .lanes = 2}}.paths()), 2);
  EXPECT_THAT(words_of({}), Not(Contains("--cores")));
}

TEST(Task, OutlivesItsPatienceSoThatWhoStartedItSaysThatItWasKilled) {
  task t;
  t.limit = std::chrono::seconds(1000);
  settle_in(t, 0);
  prctl(PR_SET_PDEATHSIG, 0);
  EXPECT_GT(alarm(0), t.patience().count());
}

TEST(PeerLines, AreFoundAmongWarnings) {
  const std::string line = to_line({{1.25e-7, 0}, 2e-7});
  const auto rounds =
      parse_lines("WARNING: no fabric\n\n" + line + "\n{\"other\":1}\n" + line + "\n");
  ASSERT_THAT(rounds, SizeIs(2));
  EXPECT_THAT(rounds.front().figures, ElementsAre(1.25e-7, 0));
  EXPECT_EQ(rounds.front().p99, 2e-7);
  EXPECT_THAT(parse_lines("mpirun: no such file\n"), SizeIs(0));
}

TEST(PeerLines, ThatAreCutOrHaveNoFigureAreRefusedWithTheirText) {
  const auto reading = [](const char* output) { return [=] { (void)parse_lines(output); }; };
  const auto refuses = [](const char* why) {
    return ThrowsMessage<std::runtime_error>(HasSubstr(why));
  };
  EXPECT_THAT(reading(R"({"peer_round":[1.)"), refuses("[1."));
  EXPECT_THAT(reading(R"({"peer_round":[]})"), refuses("not positive"));
  EXPECT_THAT(reading(R"({"peer_round":[0.0]})"), refuses("not positive"));
  EXPECT_THAT(reading(R"({"peer_round":["x"]})"), refuses("type"));
}

}  // namespace
}  // namespace heddle::bench
