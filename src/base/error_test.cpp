// SPDX-License-Identifier: BSD-3-Clause
#include "base/error.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "support/refusal.h"

namespace heddle {
namespace {

using test::refusal;

TEST(Error, NamesTheErrnoValueAndItsMeaning) {
  EXPECT_EQ(refusal([] { fail_errno(EACCES, "open {}", "/x"); }),
            "open /x: EACCES (Permission denied)");
}

TEST(Error, AnUnknownErrnoValueIsPrintedAsANumber) {
  EXPECT_EQ(errno_text(12345), "errno 12345");
}

TEST(Error, ContextsChainOutermostFirst) {
  const auto inner = [] { in_context("query port 1", [] { fail("no such port"); }); };
  EXPECT_EQ(refusal([&] { in_context("open verbs", inner); }),
            "open verbs: query port 1: no such port");
}

TEST(Error, ContextPassesTheResultThrough) {
  int target = 7;
  int& same = in_context("unused", [&]() -> int& { return target; });
  EXPECT_EQ(&same, &target);
}

}  // namespace
}  // namespace heddle
