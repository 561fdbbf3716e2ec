// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/ways.h"

#include <array>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <string_view>

#include "base/error.h"
#include "bootstrap/launcher_protocol.h"
#include "bootstrap/meeting_point.h"

namespace heddle::bootstrap {
namespace {

constexpr const char* pmix_variable = "PMIX_NAMESPACE";
constexpr const char* pmi1_variable = "PMI_FD";
constexpr const char* mpirun_size = "OMPI_COMM_WORLD_SIZE";
constexpr const char* pmi1_size = "PMI_SIZE";
/// Not SLURM_NTASKS: the script of an sbatch job has that too, and is no rank.
constexpr const char* step_size = "SLURM_STEP_NUM_TASKS";

struct choice {
  std::string_view name;
  way what;
  const char* variable;  ///< that its launcher sets; null: none
};
constexpr std::array<choice, 5> choices{{{"run", way::run, protocol::fd_variable},
                                         {"rendezvous", way::meeting_point, meeting_point_variable},
                                         {"pmix", way::pmix, pmix_variable},
                                         {"pmi1", way::pmi1, pmi1_variable},
                                         {"alone", way::alone, nullptr}}};

/// The number in a launcher's variable, or 0.
int number_in(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr) return 0;
  const std::string_view value(text);
  int number = 0;
  (void)std::from_chars(value.data(), value.data() + value.size(), number);
  return number;
}

way forced(std::string_view name) {
  for (const choice& c : choices) {
    if (c.name != name) continue;
    if (c.variable != nullptr && std::getenv(c.variable) == nullptr)
      fail("HEDDLE_BOOT={}, but {} is not set: nobody has started this process in that way", name,
           c.variable);
    return c.what;
  }
  fail("HEDDLE_BOOT={} is no way to join a job: give run, rendezvous, pmix, pmi1 or alone", name);
}

/// Ranks of the job, as far as the environment tells; 0: it does not. A step's size may be that of
/// the step in which another launcher was started.
int size_of(const choice& c) {
  if (c.what == way::pmi1) return number_in(pmi1_size);
  if (c.what != way::pmix) return 0;
  if (const int size = number_in(mpirun_size)) return size;
  const bool slurms = std::string_view(std::getenv(pmix_variable)).starts_with("slurm.");
  return slurms ? number_in(step_size) : 0;
}

void refuse_many() {
  struct launcher {
    const char *variable, *name, *cure;
  };
  static constexpr std::array<launcher, 3> others{
      {{step_size, "srun, started without PMI", "add --mpi=pmix or --mpi=pmi2 to srun"},
       {mpirun_size, "Open MPI's mpirun, without PMIX_NAMESPACE",
        "use the mpirun of Open MPI 4 or later, or `heddle run`"},
       {pmi1_size, "a PMI launcher, without PMI_FD",
        "use mpiexec.hydra without -pmi-port, or `heddle run`"}}};
  for (const auto& [variable, name, cure] : others) {
    const int size = number_in(variable);
    if (size > 1)
      fail(
          "this looks like one of {} processes of {} ({}={}), and Heddle cannot join them: {}; or "
          "set HEDDLE_BOOT=alone for a world of one",
          size, name, variable, size, cure);
  }
}

}  // namespace

way way_to_join() {
  if (const char* name = std::getenv(boot_variable); name != nullptr && *name != '\0')
    return forced(name);
  for (const choice& c : choices) {
    if (c.variable == nullptr || std::getenv(c.variable) == nullptr) continue;
    if (size_of(c) != 1) return c.what;
  }
  refuse_many();
  return way::alone;
}

}  // namespace heddle::bootstrap
