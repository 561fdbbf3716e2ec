// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/results/hdf5_loader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <string>

#include "support/refusal.h"

namespace heddle::linktest {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string refusal_of(const std::string& module_file) {
  return test::refusal([&] { (void)load_hdf5(module_file); });
}

TEST(Hdf5Loader, NamesTheModuleThatIsNotThereAndOtherFormats) {
  EXPECT_THAT(refusal_of("/nowhere/linktest_hdf5.so"),
              AllOf(HasSubstr("/nowhere/linktest_hdf5.so"), HasSubstr("--formats")));
}

TEST(Hdf5Loader, RefusesALibraryThatIsNoSuchModule) {
  EXPECT_THAT(refusal_of("libm.so.6"), HasSubstr("libm.so.6 is of another Heddle"));
}

TEST(Hdf5Loader, GivesTheSameLibraryAgain) {
  EXPECT_EQ(&hdf5(), &hdf5());
}

TEST(Hdf5Loader, ErrorsOfTheModuleAreCaughtAsHeddles) {
  EXPECT_THROW((void)hdf5().open("/nowhere/results.h5"), error);
}

}  // namespace
}  // namespace heddle::linktest
