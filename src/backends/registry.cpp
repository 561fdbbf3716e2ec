// registry.cpp - the one list of backends.
#include "backends/registry.h"

#include <dlfcn.h>

#include <filesystem>
#include <mutex>
#include <vector>

#include "backends/shm/shm.h"
#include "backends/tcp/tcp.h"
#include "base/error.h"
#include "transport/module.h"

namespace heddle::transport {
namespace {

/// Where modules are looked for: beside the library this code is in.
std::filesystem::path module_folder() {
  Dl_info here{};
  if (dladdr(reinterpret_cast<void*>(&module_folder), &here) == 0) return {};
  return std::filesystem::path(here.dli_fname).parent_path() / "heddle";
}

/// Throws error: there is none, or it does not load.
const factory& load(const std::string& name) {
  const auto file = module_folder() / ("backend_" + name + ".so");
  if (!std::filesystem::exists(file))
    fail("not built: the library it stands on was missing then ({} is not there)", file.string());
  void* const module = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (module == nullptr) fail("it does not load: {}", dlerror());
  auto* const entry =
      reinterpret_cast<decltype(&heddle_backend_module)>(dlsym(module, "heddle_backend_module"));
  if (entry == nullptr) fail("{} is not a backend of Heddle", file.string());
  return *entry();
}

/// A backend whose module is loaded on first use. One thread loads it and the others find it
/// complete: what the loader runs for a module happens before everything they do with it.
factory loadable(const std::string& name) {
  return {name, [name](const context& where) {
            static std::mutex loading;
            const auto& module = [&]() -> const factory& {
              const std::lock_guard held(loading);
              return load(name);
            }();
            return module.open(where);
          }};
}

}  // namespace

std::span<const factory> all() {
  static const std::vector<factory> known{shm_factory(), loadable("utofu"), tcp::tcp_factory()};
  return known;
}

}  // namespace heddle::transport
