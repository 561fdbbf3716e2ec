// SPDX-License-Identifier: BSD-3-Clause
// plot_test.cpp - which Python draws, and what it is told; tests/checks/plot_test.py draws.
#include "report/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "harness/companion.h"

namespace heddle::bench {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// A program that ends with a status, whatever it is asked.
class stand_in {
 public:
  explicit stand_in(int status) {
    char folder[] = "/tmp/heddle-plot-test-XXXXXX";
    folder_ = mkdtemp(folder);
    path_ = folder_ / "python3";
    std::ofstream(path_) << "#!/bin/sh\nexit " << status << '\n';
    chmod(path_.c_str(), 0755);
  }
  ~stand_in() { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  std::filesystem::path folder_;
  std::filesystem::path path_;
};

TEST(FindPython, TakesTheFirstThatHasMatplotlib) {
  const stand_in without(1), with(0);
  EXPECT_EQ(find_python({without.path(), with.path()}), with.path());
}

TEST(FindPython, NamesThePackageWhenNoneHasMatplotlib) {
  const stand_in without(1);
  EXPECT_THAT([&] { (void)find_python({without.path()}); },
              ThrowsMessage<std::runtime_error>(HasSubstr("apt install python3-matplotlib")));
}

TEST(FindPython, SaysThatThereIsNone) {
  EXPECT_THAT(
      [] {
        (void)find_python({"", "/nonexistent/python3"});
      },
      ThrowsMessage<std::runtime_error>(HasSubstr("needs python3")));
}

TEST(PlotCommand, DrawsIntoTheFolderOfTheRecordsUnlessTold) {
  plot_options o{.folder = "some where", .out = {}, .formats = {"png", "pdf"}};
  EXPECT_THAT(plot_command("python3", o).arguments, Contains("--out=some where"));
  EXPECT_THAT(plot_command("python3", o).arguments, Contains("--format=png,pdf"));
  o.out = "there";
  EXPECT_THAT(plot_command("python3", o).arguments, Contains("--out=there"));
  EXPECT_EQ(plot_command("python3", o).arguments.back(), "some where");
}

TEST(PlotScript, LiesBesideTheProgramsOfThisBuild) {
  EXPECT_TRUE(std::filesystem::exists(companion_file("plot.py")));
}

}  // namespace
}  // namespace heddle::bench
