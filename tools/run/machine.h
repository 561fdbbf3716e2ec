// SPDX-License-Identifier: BSD-3-Clause
// machine.h - the parts of this machine on which its ranks can be placed.
#pragma once
#include <string>
#include <vector>

namespace heddle::tools {

/// CPUs as the system numbers them. Neighbours share the innermost parts (cache, package).
struct machine {
  std::vector<std::vector<int>> cores{};       ///< each its CPUs (hardware threads)
  std::vector<std::vector<int>> numa_nodes{};  ///< each its CPUs, core by core
  int packages = 1;
  std::string processor{};  ///< its model; empty: not known
};

/// What `cpus` leave of this machine: parts without any of them are left out. Where the machine
/// tells nothing about itself, each CPU is a core, and all are one NUMA node.
[[nodiscard]] machine look_at_machine(const std::vector<int>& cpus);

}  // namespace heddle::tools
