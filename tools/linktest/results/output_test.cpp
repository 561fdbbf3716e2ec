// SPDX-License-Identifier: BSD-3-Clause
// output_test.cpp - the directory of results, and files that are whole or not there.
#include "linktest/results/output.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "linktest/results/test_folder.h"
#include "linktest/results/text_file.h"
#include "linktest/results/writing.h"

namespace heddle::linktest {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;
class OutputDirectory : public in_test_folder {};

TEST_F(OutputDirectory, TextThatIsLongerThanWhatIsKeptInMemoryIsWritten) {
  std::string whole;
  text_file file(in_root("long"));
  for (int i = 0; i < 100'000; ++i) {
    whole += std::to_string(i);
    file.add(std::to_string(i));
  }
  file.close();
  EXPECT_EQ(linktest::read_text(in_root("long")), whole);
}

TEST_F(OutputDirectory, AFullDiskIsToldWhileTextIsWrittenAndAtItsEnd) {
  const auto problem = [](std::size_t bytes) -> std::string {
    try {
      text_file file("/dev/full");
      file.add(std::string(bytes, 'x'));
      if (bytes > 65536) return "is not written at once";
      file.close();
    } catch (const error& why) {
      return why.what();
    }
    return "no error";
  };
  for (const std::size_t bytes : {1, 1'000'000})
    EXPECT_EQ(problem(bytes), "write /dev/full: No space left on device");
}

TEST_F(OutputDirectory, IsMadeAndKeepsOnlyWholeFiles) {
  const std::string path = in_root("out");
  {
    output_directory out(path, 1000, existing::refuse);
    EXPECT_EQ(out.put("a.txt", [](const std::string& p) { write_text(p, "whole"); }),
              path + "/a.txt");
    EXPECT_THROW(out.put("b.txt",
                         [](const std::string& p) {
                           write_text(p, "half");
                           throw error("interrupted");
                         }),
                 error);
  }
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(path)) names.push_back(entry.path().filename());
  EXPECT_EQ(names, std::vector<std::string>{"a.txt"});
}

TEST_F(OutputDirectory, LosesWhatKilledProcessesLeftAndNothingElse) {
  const std::string path = in_root("left");
  std::string temporary;
  output_directory(path, 10, existing::refuse).put("a.txt", [&](const std::string& p) {
    temporary = fs::path(p).filename();
    write_text(p, "whole");
  });
  const std::string before = path + '/' + temporary.substr(0, temporary.rfind('.') + 1);
  const pid_t dead = ::fork();
  if (dead == 0) ::_exit(0);
  ASSERT_EQ(::waitpid(dead, nullptr, 0), dead);
  const std::string left = before + std::to_string(dead);
  const std::vector<std::string> others{before + std::to_string(::getppid()), before + "x",
                                        path + "/.a.txt.elsewhere." + std::to_string(dead)};
  write_text(left, "half");
  for (const std::string& other : others) write_text(other, "theirs");
  { const output_directory again(path, 10, existing::replace); }
  EXPECT_FALSE(fs::exists(left));
  for (const std::string& other : others) EXPECT_TRUE(fs::exists(other)) << other;
}

TEST_F(OutputDirectory, IsGoneWhenNothingWasPutIntoIt) {
  { const output_directory out(in_root("out"), 10, existing::refuse); }
  EXPECT_FALSE(fs::exists(in_root("out")));
  fs::create_directory(in_root("mine"));
  { const output_directory out(in_root("mine"), 10, existing::refuse); }
  EXPECT_TRUE(fs::exists(in_root("mine"))) << "it was there before";
}

TEST_F(OutputDirectory, IsRefusedBeforeTheRunWithCauseAndCure) {
  const auto refusal = [](const std::string& path, std::uint64_t bytes) -> std::string {
    try {
      const output_directory out(path, bytes, existing::refuse);
    } catch (const error& why) {
      return why.what();
    }
    return {};
  };
  EXPECT_THAT(refusal(in_root("no/parent"), 1), HasSubstr("No such file or directory"));
  EXPECT_THAT(refusal(in_root("no/parent"), 1), HasSubstr("--output DIR"));
  write_text(in_root("file"), "");
  EXPECT_THAT(refusal(in_root("file"), 1), HasSubstr("Not a directory"));
  EXPECT_THAT(refusal(in_root("huge"), std::uint64_t{1} << 60), HasSubstr("results need about"));
  EXPECT_FALSE(fs::exists(in_root("huge")));
}

TEST_F(OutputDirectory, WithResultsIsRefusedUnlessTheyAreToBeReplaced) {
  const std::string path = in_root("out");
  {
    output_directory out(path, 10, existing::refuse);
    out.put("linktest.json", [](const std::string& p) { write_text(p, "precious"); });
  }
  try {
    const output_directory out(path, 10, existing::refuse);
    FAIL();
  } catch (const error& why) {
    EXPECT_THAT(why.what(), HasSubstr("already holds results"));
    EXPECT_THAT(why.what(), HasSubstr("--overwrite"));
  }
  std::ifstream kept(path + "/linktest.json");
  std::string content;
  std::getline(kept, content);
  EXPECT_EQ(content, "precious");
  EXPECT_NO_THROW(output_directory(path, 10, existing::replace));
}

TEST_F(OutputDirectory, ALookAtResultsShowsWhetherTheyWereWrittenSinceTheLast) {
  EXPECT_TRUE(look_for_results(in_root("out")).empty());
  output_directory out(in_root("out"), 10, existing::refuse);
  out.put("ranks-0-3.shard", [](const std::string& p) { write_text(p, "of a run"); });
  EXPECT_TRUE(look_for_results(in_root("out")).empty());
  out.put("linktest.json", [](const std::string& p) { write_text(p, "old"); });
  const results_written before = look_for_results(in_root("out"));
  EXPECT_EQ(before.size(), 1u);
  EXPECT_EQ(look_for_results(in_root("out")), before);
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // file times are of the last tick
  out.put("linktest.json", [](const std::string& p) { write_text(p, "new"); });
  EXPECT_NE(look_for_results(in_root("out")), before);
}

TEST_F(OutputDirectory, WhatAnEarlierRunLeftInOtherFormatsIsGoneButNothingElse) {
  output_directory out(in_root("out"), 10, existing::refuse);
  for (const char* name : {"linktest.h5", "linktest.csv", "linktest.json", "linktest.pdf"})
    out.put(name, [](const std::string& p) { write_text(p, "old"); });
  drop_other_formats(out, std::vector<std::string>{"json"});
  std::set<std::string> left;
  for (const auto& entry : fs::directory_iterator(in_root("out")))
    left.insert(entry.path().filename());
  EXPECT_EQ(left, (std::set<std::string>{"linktest.json", "linktest.pdf"}));
}

TEST_F(OutputDirectory, ClaimedDirectoriesAreEachNew) {
  const fs::path before = fs::current_path();
  fs::current_path(root_);
  std::set<std::string> names;
  for (int i = 0; i < 3; ++i) names.insert(claim_directory());
  fs::current_path(before);
  EXPECT_EQ(names.size(), 3u);
  for (const std::string& name : names) EXPECT_TRUE(fs::is_directory(root_ / name)) << name;
}

TEST_F(OutputDirectory, ReplacesAFileThatIsThere) {
  output_directory out(in_root("out"), 10, existing::refuse);
  for (const char* text : {"first and longer", "second"})
    out.put("a", [text](const std::string& p) { write_text(p, text); });
  std::ifstream in(in_root("out/a"));
  std::string content;
  std::getline(in, content);
  EXPECT_EQ(content, "second");
}

}  // namespace
}  // namespace heddle::linktest
