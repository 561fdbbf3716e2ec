// SPDX-License-Identifier: BSD-3-Clause
#include "backends/module_loader.h"

#include <dlfcn.h>

#include <algorithm>
#include <mutex>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/error.h"
#include "transport/module.h"

namespace heddle::transport {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "backend_", suffix = ".so";

fs::path own_folder() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&own_folder), &here) == 0) return {};
  return fs::path(here.dli_fname).parent_path() / "heddle";
}

std::string name_in(const fs::path& file) {
  const std::string whole = file.filename().string();
  if (!whole.starts_with(prefix) || !whole.ends_with(suffix)) return {};
  return whole.substr(prefix.size(), whole.size() - prefix.size() - suffix.size());
}

}  // namespace

const factory& load_module(const fs::path& file) {
  std::error_code none;
  if (!fs::exists(file, none))
    fail(
        "not built, or elsewhere: {} is not there; the library it stands on was missing then, or "
        "HEDDLE_MODULE_PATH has to name its folder",
        file.string());
  // One thread loads it and the others find it complete: what the loader runs for a module happens
  // before everything they do with it.
  static std::mutex loading;
  const std::lock_guard held(loading);
  void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) fail("{} does not load: {}", file.string(), dlerror());
  const auto* const found =
      static_cast<const module_description*>(dlsym(module, "heddle_module_description"));
  if (found == nullptr)
    fail("{} describes no backend of Heddle (ABI {}): build it again, against this Heddle",
         file.string(), module_abi);
  if (found->abi != module_abi || found->bytes != sizeof(module_description))
    fail(
        "{} was built for ABI {} of Heddle's backends, and this Heddle has ABI {}: build it again, "
        "against this Heddle",
        file.string(), found->abi, module_abi);
  return found->backend();
}

std::vector<fs::path> module_folders(const std::string& path) {
  std::vector<fs::path> folders;
  std::istringstream parts(path);
  for (std::string one; std::getline(parts, one, ':');)
    if (!one.empty()) folders.emplace_back(one);
  folders.push_back(own_folder());
  return folders;
}

fs::path find_module(const std::string& name, const std::string& path) {
  const auto folders = module_folders(path);
  const std::string file = std::string(prefix) + name + std::string(suffix);
  std::error_code none;
  for (const fs::path& folder : folders)
    if (fs::exists(folder / file, none)) return folder / file;
  return folders.back() / file;
}

std::vector<std::string> list_modules(const std::string& path) {
  std::vector<std::string> names;
  std::error_code none;
  for (const fs::path& folder : module_folders(path))
    for (const auto& entry : fs::directory_iterator(folder, none))
      if (std::string name = name_in(entry.path()); !name.empty()) names.push_back(std::move(name));
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

}  // namespace heddle::transport
