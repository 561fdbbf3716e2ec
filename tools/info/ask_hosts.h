// SPDX-License-Identifier: BSD-3-Clause
// ask_hosts.h - `heddle info --hosts`: starts itself on each host and shows what they tell.
#pragma once
#include "run/hosts.h"

namespace heddle::tools {

/// The name of the option by which `heddle info` tells one host's facts, to be read by ask_hosts.
inline constexpr const char* facts_option = "--facts";

/// Returns the exit status. Throws error and usage_error.
[[nodiscard]] int ask_hosts(const host_options& hosts, bool as_data);
/// One line.
void tell_facts();

}  // namespace heddle::tools
