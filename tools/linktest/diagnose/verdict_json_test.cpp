// SPDX-License-Identifier: BSD-3-Clause
// verdict_json_test.cpp - a diagnosis survives its way through JSON, and nonsense is refused.
#include "linktest/diagnose/verdict_json.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace heddle::linktest {
namespace {

TEST(DiagnosisInJson, ComesBackAsItWas) {
  diagnosis d;
  verdict& v = d.verdicts.emplace_back();
  v.what = culprit::link;
  v.node = 3;
  v.peer = 5;
  v.factor = 2.5;
  v.evidence = "Again, alone.";
  v.or_else = {"the sender"};
  d.verdicts.emplace_back().cable = "cable 7";
  d.seen.pairs = 12;
  d.seen.retests = 40;
  const diagnosis again = diagnosis_from(as_json(d));
  EXPECT_EQ(as_json(again), as_json(d));
  EXPECT_EQ(again.verdicts[0].rail, -1);
  EXPECT_EQ(again.verdicts[1].cable, "cable 7");
}

TEST(DiagnosisInJson, IsRefusedWhenItIsSomethingElse) {
  for (const char* text : {"{}", "[]", R"({"verdicts": [{}], "coverage": {}})",
                           R"({"verdicts": [{"what": "moon"}], "coverage": {}})"})
    EXPECT_THROW((void)diagnosis_from(nlohmann::ordered_json::parse(text)), std::exception) << text;
}

}  // namespace
}  // namespace heddle::linktest
