// SPDX-License-Identifier: BSD-3-Clause
#include "base/paged_table.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <memory>
#include <string>

namespace heddle {
namespace {

TEST(PagedTable, FindsWhatWasPutThereAndNothingElse) {
  paged_table<std::string> table;
  for (const std::size_t number : {0u, 255u, 256u, 999u})
    table.insert(number, std::make_unique<std::string>(std::to_string(number)));
  std::size_t found = 0;
  for (std::size_t i = 0; i < 1000; ++i) {
    const std::string* const value = table.find(i);
    if (value == nullptr) continue;
    EXPECT_EQ(*value, std::to_string(i));
    ++found;
  }
  EXPECT_EQ(found, 4u);
  EXPECT_EQ(table.find(~std::size_t{0}), nullptr);
}

TEST(PagedTable, KeepsAValueWhereItIs) {
  paged_table<int> table;
  const int* const first = &table.insert(0, std::make_unique<int>(7));
  for (std::size_t i = 1; i < 600; ++i) table.insert(i, std::make_unique<int>(1));
  EXPECT_EQ(table.find(0), first);
  EXPECT_EQ(*first, 7);
}

}  // namespace
}  // namespace heddle
