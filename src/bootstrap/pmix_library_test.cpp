// SPDX-License-Identifier: BSD-3-Clause
// pmix_library_test.cpp - compares our declarations with those of the header, where there is one.
#include "bootstrap/pmix_library.h"

#include <gtest/gtest.h>
#include <pmix.h>

#include <cstddef>
#include <string>

namespace heddle::bootstrap::pmix {
namespace {

TEST(PmixLibrary, OurStructuresAreLaidOutAsInTheHeader) {
  EXPECT_EQ(sizeof(process), sizeof(pmix_proc_t));
  EXPECT_EQ(offsetof(process, rank), offsetof(pmix_proc_t, rank));
  EXPECT_EQ(sizeof(value), sizeof(pmix_value_t));
  EXPECT_EQ(offsetof(value, data), offsetof(pmix_value_t, data));
  EXPECT_EQ(sizeof(byte_object), sizeof(pmix_byte_object_t));
  EXPECT_EQ(offsetof(byte_object, size), offsetof(pmix_byte_object_t, size));
  EXPECT_EQ(sizeof(info), sizeof(pmix_info_t));
  EXPECT_EQ(offsetof(info, flags), offsetof(pmix_info_t, flags));
  EXPECT_EQ(offsetof(info, value), offsetof(pmix_info_t, value));
}

TEST(PmixLibrary, OurConstantsAreThoseOfTheHeader) {
  EXPECT_EQ(all_ranks, PMIX_RANK_WILDCARD);
  EXPECT_EQ(success, PMIX_SUCCESS);
  EXPECT_EQ(global_scope, PMIX_GLOBAL);
  EXPECT_EQ(std::string(job_size), PMIX_JOB_SIZE);
  EXPECT_EQ(std::string(local_size), PMIX_LOCAL_SIZE);
  EXPECT_EQ(std::string(collect_data), PMIX_COLLECT_DATA);
  EXPECT_EQ(static_cast<int>(data_type::boolean), PMIX_BOOL);
  EXPECT_EQ(static_cast<int>(data_type::uint16), PMIX_UINT16);
  EXPECT_EQ(static_cast<int>(data_type::uint32), PMIX_UINT32);
  EXPECT_EQ(static_cast<int>(data_type::byte_object), PMIX_BYTE_OBJECT);
}

}  // namespace
}  // namespace heddle::bootstrap::pmix
