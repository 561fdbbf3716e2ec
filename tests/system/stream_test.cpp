// SPDX-License-Identifier: BSD-3-Clause
// stream_test.cpp - what ranks read and write under `heddle run`.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "system/child.h"

namespace heddle::test {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

TEST(Streams, RankZeroReadsTheInputAndTheOthersNothing) {
  const auto how = run(heddle_run({"-n", "3"}, {"sh", "-c", "echo $HEDDLE_RANK=$(cat)"}), "abc\n");
  EXPECT_THAT(sorted_lines(how.out), ElementsAre("0=abc", "1=", "2="));
}

TEST(Streams, WithPrefixEachLineOfBothOutputsIsLedByItsRank) {
  const auto how = run(heddle_run({"-n", "2", "--prefix"},
                                  {"sh", "-c", "echo a; echo b; echo bad >&2; printf 'no end'"}));
  EXPECT_EQ(how.status, 0);
  EXPECT_THAT(sorted_lines(how.out),
              ElementsAre("[0] a", "[0] b", "[0] no end", "[1] a", "[1] b", "[1] no end"));
  EXPECT_THAT(sorted_lines(how.err), ElementsAre("[0] bad", "[1] bad"));
}

TEST(Streams, WithPrefixLinesOfManyRanksDoNotMix) {
  const char* script = "for i in $(seq 300); do printf %s $HEDDLE_RANK; printf '%s\\n' -line; done";
  const auto how = run(heddle_run({"-n", "8", "--prefix"}, {"sh", "-c", script}));
  const auto lines = sorted_lines(how.out);
  EXPECT_EQ(lines.size(), 8u * 300);
  EXPECT_THAT(lines, Each(testing::MatchesRegex("\\[([0-7])\\] [0-7]-line")));
  for (const auto& line : lines) EXPECT_EQ(line[1], line[4]);
}

TEST(Streams, WithPrefixMuchOutputComesWhole) {
  const auto how = run(heddle_run({"-n", "2", "--prefix"}, {"seq", "200000"}));
  EXPECT_EQ(how.status, 0);
  EXPECT_EQ(sorted_lines(how.out).size(), 400'000u);
}

TEST(Streams, AnOutputThatNobodyReadsAnyMoreEndsItsWriters) {
  const std::string command = HEDDLE " run -n 2 --prefix -- yes | head -n 1";
  const auto how = run({"bash", "-c", "set -o pipefail; " + command});
  EXPECT_EQ(how.status, 128 + SIGPIPE);
  EXPECT_THAT(how.out, testing::MatchesRegex("\\[[01]\\] y\n"));
}

TEST(Streams, AnOutputThatNobodyReadsIsToldAlsoWhenTheRanksHaveEndedWell) {
  const std::string command =
      "exec 3> >(:); wait $!; exec " HEDDLE " run -n 2 --prefix -- echo a >&3";
  EXPECT_EQ(run({"bash", "-c", command}).status, 128 + SIGPIPE);
}

TEST(Streams, AFullDiskBehindTheRelayIsAFailureWithItsCause) {
  const auto how = run({"bash", "-c", HEDDLE " run -n 2 --prefix -- echo a >/dev/full"});
  EXPECT_EQ(how.status, 1);
  EXPECT_THAT(how.err, HasSubstr("cannot write what the ranks print: No space left on device"));
}

TEST(Streams, AnOutputThatNobodyReadsDoesNotKeepTheLauncherFromEnding) {
  child job(heddle_run({"-n", "2", "--prefix"}, {"sh", "-c", "echo ready; exec yes"}));
  job.read_until("ready", 2);
  job.send_signal(SIGINT);
  job.send_signal(SIGTERM);
  EXPECT_NE(job.wait(), 0);
  EXPECT_THAT(job.marked(), IsEmpty());
}

TEST(Streams, OutputThatIsNotWaitedForToBeReadIsNoSuccess) {
  const std::string ended = testing::TempDir() + "/all-printed-" + std::to_string(getpid());
  child job(heddle_run({"-n", "1", "--prefix"}, {"sh", "-c", "seq 30000; touch " + ended}));
  while (!std::filesystem::exists(ended)) usleep(5000);
  while (job.marked().size() > 2) usleep(5000);  // launcher and guardian
  job.send_signal(SIGINT);
  EXPECT_EQ(job.wait(), 128 + SIGINT);
  unlink(ended.c_str());
}

TEST(Streams, MessagesThatNobodyReadsKeepTheLauncherFromNothing) {
  const std::string folder = testing::TempDir() + "/unread-messages-" + std::to_string(getpid());
  const std::string full = folder + "/full", up = folder + "/up";
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  ASSERT_EQ(mkfifo(full.c_str(), 0600) + mkfifo(up.c_str(), 0600), 0);
  const int unread = open(full.c_str(), O_RDWR | O_NONBLOCK | O_CLOEXEC);
  const std::string page(4096, 'p');
  while (write(unread, page.data(), page.size()) > 0) continue;
  child job({"sh", "-c",
             "exec " HEDDLE
             " run -n 2 -- sh -c 'exec 2>/dev/null; [ $HEDDLE_RANK = 1 ] && read x <" +
                 up + " && exit 3; trap \"echo told; exit\" TERM; echo >" + up +
                 "; while :; do sleep 0.02; done' 2>" + full});
  job.read_until("told");
  job.send_signal(SIGTERM);
  EXPECT_EQ(job.wait(), 3);
  EXPECT_THAT(job.marked(), IsEmpty());
  close(unread);
  std::filesystem::remove_all(folder);
}

TEST(Streams, MessagesComeBetweenTheLinesOfTheRanks) {
  const auto how = run(heddle_run({"-n", "8", "--prefix", "--keep-going"},
                                  {"sh", "-c", "yes 'a line' | head -n 20000 >&2; exit 3"}));
  EXPECT_EQ(how.status, 3);
  const auto lines = sorted_lines(how.err);
  EXPECT_EQ(lines.size(), 8u * 20'001);
  EXPECT_THAT(lines, Each(testing::MatchesRegex("(\\[[0-7]\\] a line|heddle: rank [0-7] .*)")));
}

TEST(Streams, VariablesAreSetForAllRanks) {
  const auto how = run(heddle_run({"-n", "2", "--env", "A=1", "--env", "B=x=y z", "--env", "HOME="},
                                  {"sh", "-c", "echo $HEDDLE_RANK/$HEDDLE_SIZE \"$A,$B,$HOME\""}));
  EXPECT_THAT(sorted_lines(how.out), ElementsAre("0/2 1,x=y z,", "1/2 1,x=y z,"));
}

TEST(Streams, RanksInheritNoDescriptorsButTheirOwn) {
  const std::vector<std::string> count{"sh", "-c", "ls -l /proc/self/fd | grep -c socket:"};
  const int before = std::stoi(run(count).out);
  const std::string one_more = std::to_string(before + 1);
  EXPECT_THAT(sorted_lines(run(heddle_run({"-n", "3"}, count)).out),
              ElementsAre(one_more, one_more, one_more));
}

}  // namespace
}  // namespace heddle::test
