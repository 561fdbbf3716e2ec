// SPDX-License-Identifier: BSD-3-Clause
// join.h - how a process gets into its job's machine.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "host/machine_lock.h"
#include "host/machine_store.h"

namespace host {

enum class entering : std::uint8_t { entered, try_again, failed };

/// One try of join(), below.
template <class Machine, class Settle>
entering enter_machine(Machine& m, const std::string& job, const Settle& settle) {
  machine_head& head = m.image().head();
  const machine_guard held(head, job);
  // Relaxed: only ever changed under the lock.
  if (head.closed.load(std::memory_order_relaxed) != 0) return entering::try_again;
  const bool had_processes = anybody(head);
  forget_dead(head, [&](unsigned slot) { m.release_all_of(slot); });
  if (had_processes && !anybody(head)) {  // left by processes that were killed: not our settings
    close_machine(m.image());
    return entering::try_again;
  }
  if (settle(m)) return entering::entered;
  if (!anybody(head)) close_machine(m.image());  // we have made it, and leave nothing behind
  return entering::failed;
}

/// Joins the machine of `job`, or makes it by `plan`, and removes those that nobody has left.
/// `Machine` is made from a machine_image and has
///   release_all_of(slot)   frees what a process had, holding the lock
///   settle()               takes a place for this process, holding the lock; false: stderr says
///   why
/// Empty: stderr says why not.
template <class Machine, class Settle>
std::optional<Machine> join(const machine_kind& kind, const std::string& job,
                            const machine_plan& plan, const Settle& settle) {
  sweep_machines(kind);
  for (int attempt = 0; attempt < 1000; ++attempt) {
    auto image = open_or_create_machine(kind, path_of_job(kind, job), plan);
    if (!image) return std::nullopt;
    Machine m(std::move(*image));
    const entering how = enter_machine(m, job, settle);
    if (how == entering::entered) return m;
    if (how == entering::failed) return std::nullopt;
  }
  say("cannot join the machine \"%s\": it comes and goes", job.c_str());
  return std::nullopt;
}

}  // namespace host
