// SPDX-License-Identifier: BSD-3-Clause
// options_test.cpp - sizes, limits with their messages, and options that survive a re-execution.
#include "linktest/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <CLI/CLI.hpp>
#include <algorithm>

namespace heddle::linktest {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

options parsed(std::vector<std::string> arguments) {
  options out;
  CLI::App command;
  declare_options(command, out);
  std::reverse(arguments.begin(), arguments.end());  // CLI11 takes a vector from its end
  command.parse(arguments);
  return out;
}

std::string refusal(const std::vector<std::string>& arguments) {
  try {
    static_cast<void>(parsed(arguments));
  } catch (const CLI::ParseError& problem) {
    return problem.what();
  }
  return {};
}

TEST(Options, ReadsSizesWithPowersOf1024) {
  EXPECT_EQ(parse_size("8"), 8u);
  EXPECT_EQ(parse_size("1K"), 1024u);
  EXPECT_EQ(parse_size("128k"), 128u * 1024);
  EXPECT_EQ(parse_size("4M"), 4u << 20);
  EXPECT_EQ(parse_size("1G"), 1u << 30);
}

TEST(Options, RefusesWhatIsNoSizeAndSaysWhatIsAccepted) {
  for (const char* bad : {"", "0", "-1", "1KB", "K", "1.5K", "2G", "99999999999999999999", "1 K"}) {
    try {
      static_cast<void>(parse_size(bad));
      ADD_FAILURE() << "accepted '" << bad << "'";
    } catch (const error& problem) {
      EXPECT_THAT(problem.what(), HasSubstr("such as 8, 1K or 4M"));
    }
  }
}

TEST(Options, ReadsHowOftenAPairIsMeasured) {
  const options o = parsed({"--repetitions", "2-7", "--ci", "0.5", "--budget", "10", "--singles",
                            "0", "--drift", "3", "--no-check"});
  EXPECT_EQ(o.repetitions, 2u);
  EXPECT_EQ(o.most_repetitions, 7u);
  EXPECT_EQ(o.interval_percent, 0.5);
  EXPECT_EQ(o.budget_ms, 10);
  EXPECT_EQ(o.singles, 0u);
  EXPECT_EQ(o.drift, 3u);
  EXPECT_FALSE(o.check);
  for (const char* bad : {"", "0", "3-2", "3-", "-3", "1-2-3", "3-50x", "0-5", "1000001"})
    EXPECT_THAT(refusal({"--repetitions", bad}), HasSubstr("such as 3-50")) << bad;
}

TEST(Options, SortsSizesAndRefusesDuplicates) {
  EXPECT_THAT(parse_sizes("1M,8,1K"), ElementsAre(8u, 1024u, 1u << 20));
  EXPECT_THROW(static_cast<void>(parse_sizes("1K,1024")), error);
  EXPECT_THROW(static_cast<void>(parse_sizes("1K,,2K")), error);
  EXPECT_THROW(static_cast<void>(parse_sizes("1K,")), error);
}

TEST(Options, ReadsEveryOption) {
  const options o = parsed({"-n",         "5",        "--backend", "tcp",        "--mode",
                            "serial",     "--kernel", "uni",       "--sizes",    "1,2",
                            "--messages", "7",        "--warmup",  "0",          "--repetitions",
                            "9",          "--seed",   "11",        "--shuffle",  "--slowest",
                            "2",          "--output", "d",         "--no-color", "--quiet"});
  EXPECT_EQ(o.ranks, 5);
  EXPECT_EQ(o.layer, "tcp");
  EXPECT_EQ(o.mode, run_mode::serial);
  EXPECT_EQ(o.kernel, kernel::uni);
  EXPECT_THAT(o.sizes, ElementsAre(1u, 2u));
  EXPECT_EQ(o.messages, 7u);
  EXPECT_EQ(o.warmup, 0u);
  EXPECT_EQ(o.repetitions, 9u);
  EXPECT_EQ(o.most_repetitions, 9u);
  EXPECT_EQ(o.seed, 11u);
  EXPECT_TRUE(o.shuffle);
  EXPECT_EQ(o.slowest, 2u);
  EXPECT_EQ(o.output, "d");
  EXPECT_EQ(o.color, color_choice::never);
  EXPECT_TRUE(o.quiet);
}

TEST(Options, TakesSeveralKernelsOperationsAndLayers) {
  const options o = parsed({"-n", "4", "--kernel", "uni,semi,uni", "--op", "put,call", "--layers",
                            "tcp,shm", "--mode", "paired", "--window", "9", "--buffers", "3",
                            "--all-to-all", "--bisection", "0-3,5"});
  EXPECT_THAT(o.kernels, ElementsAre(kernel::uni, kernel::semi));
  EXPECT_EQ(o.kernel, kernel::uni);
  EXPECT_THAT(o.ops, ElementsAre(operation::put, operation::call));
  EXPECT_EQ(o.op, operation::put);
  EXPECT_THAT(o.layers, ElementsAre("tcp", "shm"));
  EXPECT_EQ(o.mode, run_mode::paired);
  std::vector<std::string> rendered = to_arguments(o);
  rendered.erase(rendered.begin());
  EXPECT_EQ(to_arguments(parsed(rendered)), to_arguments(o));
  EXPECT_THAT(to_arguments(o), ::testing::IsSupersetOf({"uni,semi", "put,call", "tcp,shm", "paired",
                                                        "9", "3", "--all-to-all", "0-3,5"}));
  EXPECT_THAT(parsed({"-n", "4", "--layers", "shm,tcp.rail0-1,tcp.rail1"}).layers,
              ElementsAre("shm", "tcp.rail0", "tcp.rail1"));
  EXPECT_THAT(refusal({"--layers", "tcp,tcp.rail"}), HasSubstr("'tcp.rail' is not accepted"));
  EXPECT_THAT(refusal({"--op", "send,fly"}),
              HasSubstr("'fly' is not accepted; give some of call, get, put, send"));
  EXPECT_THAT(refusal({"--bisection", "left"}), HasSubstr("give first, random"));
}

TEST(Options, NamesTheCureForAWrongValue) {
  EXPECT_THAT(refusal({"-n", "1"}), HasSubstr("from 2 to"));
  EXPECT_THAT(refusal({"--messages", "0"}), HasSubstr("from 1 to"));
  EXPECT_THAT(refusal({"--messages", "many"}), HasSubstr("'many' is not accepted"));
  EXPECT_THAT(refusal({"--sizes", "1Q"}), HasSubstr("such as 8, 1K or 4M"));
  EXPECT_THAT(refusal({"--kernel", "tri"}), HasSubstr("semi"));
  EXPECT_THAT(refusal({"--backend", "ib"}), HasSubstr("shm"));
  EXPECT_THAT(refusal({"--timeout", "0"}), HasSubstr("0.1"));
  EXPECT_THAT(refusal({"--formats", "h5,xls"}),
              HasSubstr("'xls' is not accepted; give some of h5"));
  for (const char* option : {"--timeout", "--ci", "--budget", "--slow"})
    EXPECT_THAT(refusal({option, "nan"}), HasSubstr("not in range")) << option;
  EXPECT_NE(refusal({"--nonsense"}), "");
}

TEST(Options, SurviveBeingTurnedIntoArgumentsAndBack) {
  const std::vector<std::string> given{
      "-n",        "5",         "--backend",  "shm",       "--mode",
      "serial",    "--kernel",  "bi",         "--seed",    "18446744073709551615",
      "--shuffle", "--timeout", "2.5",        "--output",  "some dir/x",
      "--color",   "always",    "--progress", "none",      "--width",
      "100",       "--sizes",   "3,4K",       "--formats", "csv,prom",
      "--sion",    "2",         "--overwrite"};
  const options first = parsed(given);
  std::vector<std::string> rendered = to_arguments(first);
  ASSERT_EQ(rendered.front(), "linktest");
  rendered.erase(rendered.begin());
  const options again = parsed(rendered);
  EXPECT_EQ(to_arguments(again), to_arguments(first));
  EXPECT_EQ(again.seed, ~std::uint64_t{0});
  EXPECT_EQ(again.output, "some dir/x");
  EXPECT_EQ(again.timeout_s, 2.5);
  EXPECT_THAT(again.formats, ElementsAre("csv", "prom"));
  EXPECT_EQ(again.sion_files, 2);
  EXPECT_TRUE(again.overwrite);
}

TEST(Options, HelpTellsUnitsDefinitionsAndExitStatuses) {
  options o;
  CLI::App command;
  declare_options(command, o);
  const std::string help = command.help();
  for (const char* part : {"elapsed / 2n", "powers of 1024", "bytes per second", "Exit status",
                           "linktest.h5", "--repetitions"})
    EXPECT_THAT(help, HasSubstr(part));
}

}  // namespace
}  // namespace heddle::linktest
