// SPDX-License-Identifier: BSD-3-Clause
// binding.h - which CPUs each rank of a host may use: what the option --bind means in all commands.
#pragma once
#include <string>
#include <vector>

#include "run/machine.h"

namespace heddle::tools {

/// What --bind asks for.
struct binding {
  enum class unit {
    none,  ///< ranks run where the system puts them
    core,  ///< an equal share of the cores for each rank
    numa,  ///< one NUMA node for each rank, or for several
    list,  ///< an equal share of these CPUs for each rank
  };
  unit what = unit::core;
  std::vector<int> cpus{};  ///< of a list, as it was written
  bool asked = false;       ///< by the user, who is then told what cannot be done
};

/// "none", "core", "numa" or CPUs such as "0,4-7". Throws usage_error.
[[nodiscard]] binding parse_binding(const std::string& text);
/// What parse_binding() reads.
[[nodiscard]] std::string text_of(const binding& how);

struct binding_plan {
  std::vector<std::vector<int>> cpus{};  ///< by rank of this host; empty: they are not bound
  std::string problem{};                 ///< why they are not bound as asked, for people
};

/// For `ranks` ranks on `here`, which is what may be used of the machine. Neighbouring ranks get
/// neighbouring cores, whole ones, and among its own a rank's first CPUs are of different cores.
/// With more ranks than cores or listed CPUs there are no shares: none is bound, or all to the
/// whole list. Throws usage_error: a listed CPU may not be used.
[[nodiscard]] binding_plan plan_binding(const binding& how, const machine& here, int ranks);

/// As asked for, but for a default in a job whose `environment` says on which CPUs executors run:
/// these may be outside a rank's share.
[[nodiscard]] binding binding_beside(const binding& how,
                                     const std::vector<std::string>& environment);

}  // namespace heddle::tools
