// SPDX-License-Identifier: BSD-3-Clause
// all_settings.h - the settings of this process: the core's and every backend's.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/settings.h"

namespace heddle::transport {

/// read_settings(), with the values of backends checked as well: of those built in and of the
/// modules that HEDDLE_BACKENDS names. With HEDDLE_STRICT=1 throws where unknown_settings() is not
/// empty.
[[nodiscard]] settings read_all_settings(const settings& defaults = {});

/// The names in the process's environment that begin with HEDDLE_ and are neither settings nor the
/// launcher's, each with what may have been meant, for people: "HEDDLE_DIR, HEDDLE_RECORD (did you
/// mean HEDDLE_RECORDS?)". Empty: there are none. Of a backend whose module cannot be loaded here
/// every name that would be its own is taken: an environment serves more than one machine.
[[nodiscard]] std::string unknown_settings();
/// The same of what a program sets by name.
[[nodiscard]] std::string unknown_settings(const environment& given);

/// A setting that somebody has set, and who: "environment" or "program".
struct given_setting {
  std::string name, value;
  std::string_view origin;
};
/// Those of `config`, which was read from the environment as it is now. Launcher's variables are
/// none.
[[nodiscard]] std::vector<given_setting> given_settings(const settings& config);

/// Variables by which a rank joins its job, set by `heddle run` or by who starts ranks without it:
/// not settings. For docs/guide/settings.md.
struct launcher_variable {
  std::string_view name, help;
};
[[nodiscard]] std::span<const launcher_variable> launcher_variables() noexcept;

}  // namespace heddle::transport
