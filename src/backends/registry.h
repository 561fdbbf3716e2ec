// SPDX-License-Identifier: BSD-3-Clause
// registry.h - the backends there are: those built in, and those that are modules.
#pragma once
#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"
#include "transport/device.h"

namespace heddle::transport {

struct backend {
  std::string name;
  const factory* built_in = nullptr;  ///< null: a module
  std::filesystem::path module;       ///< its file, which may be missing

  /// Built in, a module that there is, or one that this Heddle could have been built with.
  bool known = true;

  /// Numbers of its devices, where HEDDLE_BACKENDS names some one by one ("x.rail1"); empty: all.
  std::vector<std::size_t> rails = {};

  /// Loads a module on first use. Throws error: why it cannot be used.
  [[nodiscard]] const factory& get() const;
  /// Its devices that are to be used, by their numbers, of so many that there are.
  [[nodiscard]] std::vector<std::size_t> chosen_of(std::size_t devices) const;
};

/// Those that HEDDLE_BACKENDS names, in its order and whether there is such a module or not; then
/// the others.
[[nodiscard]] std::vector<backend> known_backends(const settings& config = {});

/// The names of those that there are, for people: "shm, utofu, tcp".
[[nodiscard]] std::string names_of_backends(const settings& config);

/// Whether HEDDLE_BACKENDS names it, or one of its rails.
[[nodiscard]] bool is_listed(const settings& config, std::string_view name);

}  // namespace heddle::transport
