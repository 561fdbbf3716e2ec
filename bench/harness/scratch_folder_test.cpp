// SPDX-License-Identifier: BSD-3-Clause
// scratch_folder_test.cpp - folders that are used stay, others go.
#include "harness/scratch_folder.h"

#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

namespace heddle::bench {
namespace {

using namespace std::chrono_literals;

bool is_there(const std::string& path) {
  return std::filesystem::exists(path);
}

TEST(ScratchFolder, IsGoneWithAllThatIsInIt) {
  std::string path;
  {
    const scratch_folder folder;
    path = folder.path();
    std::ofstream(path + "/file") << "text";
    EXPECT_TRUE(is_there(path + "/file"));
  }
  EXPECT_FALSE(is_there(path));
}

TEST(ScratchFolder, StaysWhileItIsUsed) {
  const scratch_folder first;
  const scratch_folder second;
  EXPECT_NE(first.path(), second.path());
  EXPECT_TRUE(is_there(first.path()));
}

TEST(ScratchFolder, OfAProcessThatWasKilledIsRemovedByTheNext) {
  const scratch_folder first;
  const std::string left = first.path().substr(0, first.path().size() - 6) + "KILLED";
  std::filesystem::create_directories(left + "/inside");
  const scratch_folder second;
  // Somebody else's sweep may have it just now.
  for (int i = 0; i < 500 && is_there(left); ++i) std::this_thread::sleep_for(20ms);
  EXPECT_FALSE(is_there(left));
}

}  // namespace
}  // namespace heddle::bench
