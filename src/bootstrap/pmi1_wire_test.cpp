// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/pmi1_wire.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace heddle::bootstrap::pmi1 {
namespace {

using testing::Optional;
using testing::Pair;
using testing::UnorderedElementsAre;

TEST(Pmi1Piece, LeavesRoomForTheNumberOfPiecesAndIsALineAtMost) {
  EXPECT_EQ(piece_bytes(1024), 1008u);
  EXPECT_EQ(piece_bytes(min_value_bytes), 48u);
  EXPECT_LT(piece_bytes(2'147'483'647), max_line_bytes);
}

TEST(Pmi1Line, IsWordsWithASpaceBetween) {
  EXPECT_THAT(parse("cmd=maxes keylen_max=64 vallen_max=1024"),
              Optional(UnorderedElementsAre(Pair("cmd", "maxes"), Pair("keylen_max", "64"),
                                            Pair("vallen_max", "1024"))));
}

TEST(Pmi1Line, AValueMayHoldSpacesAndEqualsSignsAndEndsTheLine) {
  EXPECT_THAT(parse("cmd=get_result rc=0 value=(vector,(0,2,2)) x=1"),
              Optional(testing::Contains(Pair("value", "(vector,(0,2,2)) x=1"))));
}

TEST(Pmi1Line, WordsMayBeEmptyAndSpacesMayBeMany) {
  EXPECT_THAT(parse("  cmd=a  msg=  rc=0 "),
              Optional(UnorderedElementsAre(Pair("cmd", "a"), Pair("msg", ""), Pair("rc", "0"))));
}

TEST(Pmi1Line, WhatIsNoAnswerIsRefused) {
  using namespace std::string_view_literals;
  const std::string endless(max_line_bytes + 1, 'a');
  for (const std::string_view bad :
       {""sv, " "sv, "cmd"sv, "=x cmd=a"sv, "rc=0"sv, "value=cmd=a"sv, "cmd=a b"sv, "cmd=a cmd=b"sv,
        "cmd=a rc=0 rc=1"sv, "cmd=a\0b"sv, "cmd=a\r"sv, "cmd=\xc3\xa4"sv, "cmd=a \x1b[2J=x"sv,
        "a b=c cmd=d"sv, std::string_view(endless)})
    EXPECT_EQ(parse(bad), std::nullopt) << bad.substr(0, 40);
}

TEST(Pmi1Line, AnyByteAnywhereIsParsedOrRefusedAndNothingElse) {
  const std::string good = "cmd=get_result rc=0 value=abc";
  for (std::size_t at = 0; at < good.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string line = good;
      line[at] = static_cast<char>(byte);
      const auto found = parse(line);
      EXPECT_TRUE(!found || found->contains("cmd")) << line;
    }
    const auto part = parse(good.substr(0, at));
    EXPECT_TRUE(!part || part->contains("cmd"));
  }
}

TEST(Pmi1Lines, AreCutWhereverTheStreamIs) {
  line_cutter cutter;
  for (const char c : std::string("cmd=a\n\ncmd=b")) cutter.push({&c, 1});
  EXPECT_THAT(cutter.next(), Optional(std::string("cmd=a")));
  EXPECT_THAT(cutter.next(), Optional(std::string()));
  EXPECT_EQ(cutter.next(), std::nullopt);
  cutter.push("\n");
  EXPECT_THAT(cutter.next(), Optional(std::string("cmd=b")));
}

TEST(Pmi1Lines, WithoutAnEndAreNoticedBeforeTheyFillTheMemory) {
  line_cutter cutter;
  EXPECT_FALSE(cutter.broken());
  cutter.push(std::string(max_line_bytes + 1, 'x'));
  EXPECT_TRUE(cutter.broken());
}

TEST(Pmi1Mapping, TellsHowManyRanksAreBesideOne) {
  EXPECT_EQ(ranks_beside("(vector,(0,4,2))", 0, 8), 2);
  EXPECT_EQ(ranks_beside("(vector,(0,1,3),(1,1,1))", 1, 4), 3);
  EXPECT_EQ(ranks_beside("(vector,(0,1,3),(1,1,1))", 3, 4), 1);
}

TEST(Pmi1Mapping, IsRepeatedUntilAllRanksArePlaced) {
  EXPECT_EQ(ranks_beside("(vector,(0,2,1))", 0, 5), 3);
  EXPECT_EQ(ranks_beside("(vector,(0,1,1))", 0, 100), 100);
}

TEST(Pmi1Mapping, ThatIsNoneOrPlacesNobodyIsRefused) {
  for (const char* bad :
       {"", "(vector", "(vector)", "(vector,)", "(vector,(0,0,1))", "(vector,(0,1,0))",
        "(vector,(0,1))", "(vector,(-1,1,1))", "(vector,(0,99999999999,1))", "(vector,(0,1,1)",
        "(vector,(0,1,1)))", "(matrix,(0,1,1))", "(vector,(0,1,1)x)", "(vector,( 0,1,1))"})
    EXPECT_EQ(ranks_beside(bad, 0, 4), std::nullopt) << bad;
}

TEST(Pmi1Mapping, OfMoreNodesThanRanksTakesNoMoreMemoryThanRanks) {
  EXPECT_EQ(ranks_beside("(vector,(2147483647,2147483647,2147483647))", 1, 2), 2);
}

}  // namespace
}  // namespace heddle::bootstrap::pmi1
