// SPDX-License-Identifier: BSD-3-Clause
// host_options.h - the options for where ranks run: hosts, and CPUs of each. They are alike in all
// commands that start jobs.
#pragma once
#include <CLI/CLI.hpp>
#include <optional>
#include <string>

#include "run/launcher.h"

namespace heddle::tools {

/// --hosts, --hostfile, --starter, --remote-heddle, --workdir, --fanout and --silence-limit.
void add_host_options(CLI::App& app, host_options& into);

/// --bind; the default is what `into` is now.
void add_bind_option(CLI::App& app, binding& into);

/// Places `ranks` (nothing: as many as there is room for) on the hosts. Nothing happens unless
/// hosts were given. Throws usage_error.
void take_hosts(const host_options& given, std::optional<int> ranks, launch_options& job,
                placing order = placing::filling);

/// Where the ranks of a job on hosts run, for people: "rank 0 on a, rank 1 on b".
[[nodiscard]] std::string places_of(const launch_options& job);

}  // namespace heddle::tools
