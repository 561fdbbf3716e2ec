// SPDX-License-Identifier: BSD-3-Clause
// contract.h - the fixture of the suite that every backend passes unchanged.
//
// A test opens a group of ranks over GetParam() and says what src/transport promises. It may ask
// what a device can do (traits), never which one it is.
#pragma once
#include <gtest/gtest.h>

#include "contract/group.h"

namespace heddle::test {

class Contract : public testing::TestWithParam<contract_case> {
 protected:
  void SetUp() override;
};

/// Skips the test when the device does not do this kind of op itself.
#define HEDDLE_NEEDS_NATIVE(job, kind) \
  if (!(job).native(kind)) GTEST_SKIP() << "not native to this backend: the engine emulates it"

}  // namespace heddle::test
