// SPDX-License-Identifier: BSD-3-Clause
#include "backends/module_loader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include "support/refusal.h"
#include "transport/module.h"

namespace heddle::transport {
namespace {

using testing::AllOf;
using testing::HasSubstr;

std::string refusal(const std::filesystem::path& file) {
  return test::refusal([&] { (void)load_module(file); });
}

TEST(ModuleLoader, NamesTheFileThatIsAbsentAndWhereElseItMayBe) {
  const auto file = find_module("nowhere", "/some/folder");
  EXPECT_THAT(refusal(file), AllOf(HasSubstr(file.string()), HasSubstr("is not there"),
                                   HasSubstr("HEDDLE_MODULE_PATH")));
}

TEST(ModuleLoader, RefusesAModuleOfAnOlderAbiWithBothNumbersAndTheCure) {
  EXPECT_THAT(refusal(OLDER_MODULE),
              AllOf(HasSubstr(OLDER_MODULE), HasSubstr("ABI 0"),
                    HasSubstr(fmt::format("ABI {}", module_abi)), HasSubstr("build it again")));
}

TEST(ModuleLoader, RefusesASharedObjectThatDescribesNoBackend) {
  EXPECT_THAT(refusal(NO_MODULE), AllOf(HasSubstr(NO_MODULE), HasSubstr("build it again")));
}

TEST(ModuleLoader, FindsModulesInTheFoldersThatUsersName) {
  const std::filesystem::path file = OLDER_MODULE;
  const std::string folder = file.parent_path().string();
  EXPECT_EQ(find_module("older", "/nowhere:" + folder), file);
  EXPECT_THAT(list_modules(folder), testing::Contains("older"));
  EXPECT_THAT(list_modules(""), testing::Not(testing::Contains("older")));
}

}  // namespace
}  // namespace heddle::transport
