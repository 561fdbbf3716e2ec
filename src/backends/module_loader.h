// SPDX-License-Identifier: BSD-3-Clause
// module_loader.h - backends that are shared objects of their own.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "transport/device.h"

namespace heddle::transport {

/// Loads a module, for good, and returns its backend. Any thread. Throws error that names the file:
/// it is not there, does not load, or was built for another Heddle, and what to do about it.
[[nodiscard]] const factory& load_module(const std::filesystem::path& file);

/// The folders in which modules are looked for: those of `path` (HEDDLE_MODULE_PATH), then the one
/// beside the library.
[[nodiscard]] std::vector<std::filesystem::path> module_folders(const std::string& path);

/// Where the module of backend `name` is, or would have to be.
[[nodiscard]] std::filesystem::path find_module(const std::string& name, const std::string& path);

/// Names of the backends that have a module in these folders, in alphabetical order.
[[nodiscard]] std::vector<std::string> list_modules(const std::string& path);

}  // namespace heddle::transport
