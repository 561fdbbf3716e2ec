// SPDX-License-Identifier: BSD-3-Clause
// hdf5_file_test.cpp - what lies where in the HDF5 file, read with the library's own functions.
#include "linktest/results/hdf5_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <heddle/status.h>

#include <cmath>
#include <string>
#include <vector>

#include "linktest/results/sample.h"
#include "linktest/results/test_folder.h"

namespace heddle::linktest {
namespace {

using ::testing::HasSubstr;
class Hdf5File : public in_test_folder {};

std::vector<double> read_matrix(hid_t file, const char* name, std::size_t n) {
  std::vector<double> out(n * n);
  const hid_t data = H5Dopen2(file, name, H5P_DEFAULT);
  EXPECT_GE(data, 0) << name;
  EXPECT_EQ(H5Sget_simple_extent_npoints(H5Dget_space(data)), static_cast<hssize_t>(n * n));
  EXPECT_GE(H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, out.data()), 0);
  H5Dclose(data);
  return out;
}

std::string read_text(hid_t file, const char* object, const char* name) {
  const hid_t attribute = H5Aopen_by_name(file, object, name, H5P_DEFAULT, H5P_DEFAULT);
  EXPECT_GE(attribute, 0) << name;
  char* text = nullptr;
  EXPECT_GE(H5Aread(attribute, H5Aget_type(attribute), &text), 0);
  const std::string out = text == nullptr ? "" : text;
  H5free_memory(text);
  H5Aclose(attribute);
  return out;
}

std::uint64_t read_number(hid_t file, const char* name) {
  std::uint64_t out = 0;
  const hid_t attribute = H5Aopen(file, name, H5P_DEFAULT);
  EXPECT_GE(H5Aread(attribute, H5T_NATIVE_UINT64, &out), 0) << name;
  H5Aclose(attribute);
  return out;
}

TEST_F(Hdf5File, HoldsMatricesWithUnitsAndTheRunsFacts) {
  const std::string path = in_root("x.h5");
  write_hdf5(path, sample_facts(), sample_results());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  const auto times = read_matrix(file, "/size_1024/time_median", 3);
  EXPECT_NEAR(times[2 * 3 + 1], 21e-6, 1e-6 * 21e-6);
  EXPECT_TRUE(std::isnan(times[1 * 3 + 2]));
  EXPECT_TRUE(std::isnan(times[1 * 3 + 2]));
  EXPECT_NEAR(read_matrix(file, "/size_8/bandwidth", 3)[1], 8 / 1e-6, 1e-6 * (8 / 1e-6));
  EXPECT_EQ(read_matrix(file, "/size_8/failed", 3),
            (std::vector<double>{0, 0, 0, 0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(read_matrix(file, "/size_1024/state", 3),
            (std::vector<double>{0, 1, 1, 1, 0, 2, 3, 1, 0}));
  EXPECT_EQ(read_text(file, "/size_8/time_min", "units"), "s");
  EXPECT_EQ(read_text(file, "/size_8/bandwidth", "units"), "B/s");
  EXPECT_EQ(read_text(file, "/", "started"), "2025-01-31T23:59:59Z");
  EXPECT_EQ(read_text(file, "/", "kernel"), "semi");
  EXPECT_EQ(read_text(file, "/", "heddle_version"), "1.2.3");
  EXPECT_EQ(read_number(file, "seed"), ~std::uint64_t{0});
  EXPECT_EQ(read_number(file, "ranks"), 3u);
  EXPECT_EQ(read_number(file, "complete"), 0u);
  H5Fclose(file);
}

TEST_F(Hdf5File, TakesHostsWhoseNamesHaveSlashes) {
  run_facts facts = sample_facts();
  facts.machines = {{"rack1/n0", {{"processor", "A"}}}, {"rack1/n1", {{"processor", "B"}}}};
  const std::string path = in_root("x.h5");
  write_hdf5(path, facts, sample_results());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  EXPECT_EQ(read_text(file, "/machines/rack1/n0", "processor"), "A");
  EXPECT_EQ(read_text(file, "/machines/rack1/n1", "processor"), "B");
  H5Fclose(file);
}

TEST_F(Hdf5File, HoldsVerdictsAndMissedRulesAsColumns) {
  const std::string path = in_root("x.h5");
  write_hdf5(path, facts_of_a_missed_rule(), sample_results());
  const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  ASSERT_GE(file, 0);
  EXPECT_EQ(read_matrix(file, "/verdicts/node", 1), std::vector{1.0});
  EXPECT_EQ(read_matrix(file, "/verdicts/factor", 1), std::vector{3.5});
  EXPECT_EQ(read_matrix(file, "/missed_rules/bytes", 1), std::vector{1024.0});
  EXPECT_EQ(read_matrix(file, "/missed_rules/wanted", 1), std::vector{1e-5});
  EXPECT_EQ(read_number(file, "diagnosed"), 1u);
  EXPECT_EQ(read_text(file, "/", "disturbed"), "rank 2 (beta) 31 %");
  EXPECT_EQ(read_number(file, "exit_status"), 3u);
  H5Fclose(file);
  write_hdf5(path, sample_facts(), sample_results());
  const hid_t healthy = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
  EXPECT_TRUE(read_matrix(healthy, "/missed_rules/bytes", 0).empty());
  EXPECT_EQ(H5Lexists(healthy, "verdicts", H5P_DEFAULT), 0) << "nobody looked";
  H5Fclose(healthy);
}

TEST_F(Hdf5File, NamesThePathItCannotWrite) {
  try {
    write_hdf5(in_root("missing/x.h5"), sample_facts(), sample_results());
    FAIL();
  } catch (const error& why) {
    EXPECT_THAT(why.what(), HasSubstr("missing/x.h5"));
  }
}

}  // namespace
}  // namespace heddle::linktest
