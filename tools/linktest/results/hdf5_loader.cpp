// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/results/hdf5_loader.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <heddle/status.h>
#include <heddle/version.h>

#include <filesystem>
#include <string_view>

namespace heddle::linktest {

#ifdef HEDDLE_HDF5_IS_LINKED  // where all of Heddle is one file

extern "C" const hdf5_library heddle_linktest_hdf5;

const hdf5_library& hdf5() {
  return heddle_linktest_hdf5;
}

#else

namespace {

constexpr const char* cure =
    "install Heddle's tools as a whole, or choose other files by --formats, such as json,csv";

/// Beside the library, where its backends lie as well.
std::filesystem::path own_module() {
  Dl_info library{};
  const void* const inside = dlsym(RTLD_DEFAULT, "heddle_library_version");
  if (inside == nullptr || dladdr(inside, &library) == 0) return "linktest_hdf5.so";
  return std::filesystem::path(library.dli_fname).parent_path() / "heddle" / "linktest_hdf5.so";
}

}  // namespace

const hdf5_library& load_hdf5(const std::string& module_file) {
  void* const module = dlopen(module_file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (module == nullptr) throw error(fmt::format("no HDF5 here: {}; {}", dlerror(), cure));
  const auto* const found = static_cast<const hdf5_library*>(dlsym(module, "heddle_linktest_hdf5"));
  if (found == nullptr || std::string_view(found->version) != HEDDLE_VERSION_STRING)
    throw error(fmt::format("no HDF5 here: {} is of another Heddle; {}", module_file, cure));
  return *found;
}

const hdf5_library& hdf5() {
  static const hdf5_library& loaded = load_hdf5(own_module());
  return loaded;
}

#endif

}  // namespace heddle::linktest
