// SPDX-License-Identifier: BSD-3-Clause
// hdf5_loader.h - HDF5, loaded when it is asked for first.
#pragma once
#include <string>

#include "linktest/results/hdf5_node.h"

namespace heddle::linktest {

/// Any thread. Throws error naming the module that cannot be loaded, why, and what to do; asked
/// again, it tries again.
[[nodiscard]] const hdf5_library& hdf5();

/// The same of a module that may lie anywhere. Not where all of Heddle is one file.
[[nodiscard]] const hdf5_library& load_hdf5(const std::string& module_file);

}  // namespace heddle::linktest
