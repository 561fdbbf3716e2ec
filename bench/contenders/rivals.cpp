// SPDX-License-Identifier: BSD-3-Clause
// rivals.cpp - arguments, launchers and settings of the rivals; a rival's program for a round, and
// its end whatever happens.
#include "contenders/rivals.h"

#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "exit_status.h"
#include "harness/files.h"
#include "parts/pinning.h"

namespace heddle::bench {
namespace {

bool over_tcp(const task& t) {
  return t.backend == "tcp";
}

void append(std::vector<std::string>& to, const std::vector<std::string>& more) {
  to.insert(to.end(), more.begin(), more.end());
}

std::vector<std::string> openmpi_settings(const task& t, const std::string& scratch) {
  std::vector<std::string> settings{
      "OMPI_ALLOW_RUN_AS_ROOT=1",
      "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1",
      "OMPI_MCA_rmaps_base_oversubscribe=1",      // more ranks than cores are no error
      "OMPI_MCA_hwloc_base_binding_policy=none",  // the peer binds itself as Heddle does
      "OMPI_MCA_plm=isolated",                    // this machine only: no ssh
      "OMPI_MCA_oob_tcp_if_include=lo",           // the launcher's own connections
      "OMPI_MCA_orte_tmpdir_base=" + scratch,
      "OMPI_MCA_btl_vader_backing_directory=" + scratch,
      "OMPI_MCA_btl_base_warn_component_unused=0",
      "OMPI_MCA_pml=ob1"};
  if (over_tcp(t)) {
    // One-sided: of the parts that know MPI_THREAD_MULTIPLE, only ucx goes over TCP.
    append(settings, {"OMPI_MCA_btl=self,tcp", "OMPI_MCA_btl_tcp_if_include=lo", "OMPI_MCA_osc=ucx",
                      "OMPI_MCA_osc_ucx_tls=any", "OMPI_MCA_osc_ucx_devices=any"});
    append(settings, ucx_settings(t.backend));
  } else {
    append(settings, {"OMPI_MCA_btl=self,vader", "OMPI_MCA_osc=sm"});
  }
  if (t.crowded()) settings.emplace_back("OMPI_MCA_mpi_yield_when_idle=1");
  return settings;
}

/// Its own machine where uTofu is the software device: CQs are few.
std::string own_tofu_machine(const std::string& scratch) {
  return "SOFTTOFU_JOB=" + std::filesystem::path(scratch).filename().string();
}

void use_launcher(command& c, const std::string& launcher, const std::vector<std::string>& words) {
  c.arguments.insert(c.arguments.begin(), c.program);
  c.arguments.insert(c.arguments.begin(), words.begin(), words.end());
  c.program = launcher;
}

/// Heddle itself, one round of the task.
std::vector<std::string> heddle_words(const task& t, const std::string& scratch) {
  const spec& s = t.what;
  std::vector<std::string> words{"bench", name_of(s.what), "--backend", t.backend};
  const auto add = [&words](const char* option, const auto& value) {
    append(words, {option, fmt::format("{}", value)});
  };
  add("--threads", s.threads);
  if (s.lanes > 0) add("--lanes", s.lanes);
  if (s.what != kind::latency) add("--window", s.window);
  if (s.what == kind::gups) {
    add("--memory", s.memory_bytes);
    if (s.atomic) words.emplace_back("--atomic");
  } else {
    add("--sizes", s.bytes);
    add("--op", name_of(s.op));
    add("--buffers", name_of(s.buffers));
    add("--target", name_of(s.target));
  }
  add("--bind", t.cores.empty() ? "none" : "core");
  add("--rounds", 1);
  add("--time-ms", s.time.count());
  add("--json", records_in(scratch).string());
  return words;
}

/// What the machine itself does for `s`; nothing: nothing bare corresponds. Over tcp a put or an
/// atomic is answered, and so is no stream; over shm a tag is not matched.
std::optional<spec> bare_limit(spec s, bool tcp) {
  const bool message = s.op == operation::am || s.op == operation::tag;
  const bool fetches = is_round_trip(s.op);
  const bool word = s.bytes == sizeof(std::uint64_t);
  if (s.background) return {};
  if (s.what == kind::latency && tcp) {
    s.bytes = std::max<std::uint64_t>(s.bytes, 1);
    s.op = fetches ? operation::get : operation::tag;
  } else if (s.what == kind::latency && !fetches) {
    s.bytes = sizeof(std::uint64_t);
    s.op = operation::put;
  } else if (s.what == kind::bandwidth && s.bytes > 0) {
    const bool copies = s.buffers == buffer_kind::exposed;
    s.op = tcp ? operation::tag : copies ? operation::put : operation::get;
  } else if (s.what == kind::rate && tcp && message && s.bytes > 0) {
    s.op = operation::am;
  } else if (s.what != kind::rate || tcp || !word ||
             (s.op != operation::put && s.op != operation::fetch_add)) {
    return {};
  }
  return s;
}

/// What makes a program that was not built, its launcher, and the launcher's Debian package; null:
/// it has none.
struct needs {
  const char *cure, *launcher = nullptr, *package = nullptr;
};
const std::map<rival, needs> needs_of{
    {rival::bare, {"configure with HEDDLE_BENCHMARKS=ON"}},
    {rival::ucx, {"on Debian: apt install libucx-dev"}},
    {rival::ofi, {"on Debian: apt install libfabric-dev"}},
    {rival::openmpi, {"on Debian: apt install libopenmpi-dev", "mpirun.openmpi", "openmpi-bin"}},
    {rival::mpich, {"on Debian: apt install libmpich-dev", "mpirun.mpich", "mpich"}},
    {rival::utofu, {"configure with HEDDLE_UTOFU=emulated, or vendor on Fugaku"}},
    {rival::verbs, {"on Debian: apt install libibverbs-dev"}}};

std::string how_it_failed(rival who, const task& t, const child& program, bool ended) {
  constexpr std::size_t most = 2000;  // launchers explain themselves at length
  const std::string output = program.output();
  const std::string end =
      ended ? fmt::format("failed with status {}", program.exit_status())
            : fmt::format("took longer than {} s and was killed", t.patience().count());
  return fmt::format("{} {}\n{}", name_of(who), end,
                     output.size() <= most ? output : "... " + output.substr(output.size() - most));
}

/// Why `who` cannot do this; null: it can.
const char* why_not(rival who, const task& t) {
  const spec& s = t.what;
  const bool common = s.what != kind::overlap && s.what != kind::gups && s.what != kind::overhead;
  const bool of_one_way = s.what == kind::overlap || s.what == kind::overhead || s.background;
  const bool heddle = who == rival::uncached || is_in_this_job(who);
  if (who == rival::pair || (heddle && of_one_way)) return "not possible here";
  if (heddle) return nullptr;
  if (who == rival::bare) {
    if (s.what == kind::overlap || s.what == kind::overhead || s.what == kind::gups)
      return "not possible here";
    const bool known = t.backend == "auto" || bare_limit(s, over_tcp(t));
    return known ? nullptr : "there is no bare limit of that";
  }
  if (s.background) return "nobody but Heddle moves messages while nobody calls it";
  if (who == rival::utofu) {
    if (s.what == kind::overlap || (common && s.op == operation::tag))
      return "uTofu has no tagged messages; compare --op am";
    return t.backend == "utofu" || t.backend == "auto" ? nullptr : "that is for --backend utofu";
  }
  if (t.backend == "utofu") return "it does not use uTofu";
  if (who == rival::verbs) {
    if (!common || s.op == operation::tag) return "verbs have no tagged messages and no xor";
    return t.backend == "verbs" || t.backend == "auto" ? nullptr : "that is for --backend verbs";
  }
  if (t.backend == "verbs" && who != rival::ucx) return "it is not set to use verbs";
  if (s.what == kind::gups && who == rival::ofi)
    return "its puts do not tell when they have arrived";
  if (who == rival::ucx || !common || s.op != operation::am) return nullptr;
  return who == rival::ofi ? "libfabric has no active messages; compare --op tag"
                           : "MPI has no active messages; compare --op tag";
}

}  // namespace

std::vector<std::string> ucx_settings(const std::string& backend) {
  // Verbs are plain libibverbs, as Heddle's are; datagrams are what UCX connects by.
  std::vector<std::string> settings{
      fmt::format("UCX_TLS={},self", backend == "verbs" ? "rc_v,ud_v" : backend),
      "UCX_WARN_UNUSED_ENV_VARS=n"};
  if (backend == "tcp") settings.emplace_back("UCX_NET_DEVICES=lo");
  return settings;
}

std::filesystem::path records_in(const std::string& scratch) {
  return std::filesystem::path(scratch) / "round.json";
}

peer_programs find_peer(rival who) {
  if (who == rival::uncached) return {std::filesystem::read_symlink("/proc/self/exe"), {}};
  const needs& of = needs_of.at(who);
  peer_programs found{companion_program("heddle_peer_" + name_of(who)).string(), {}};
  if (access(found.peer.c_str(), X_OK) != 0) {
    throw std::runtime_error(
        fmt::format("comparing with {} needs {}, which was not built; {}, then build Heddle again",
                    name_of(who), found.peer, of.cure));
  }
  if (of.launcher == nullptr) return found;
  found.launcher = find_program(of.launcher);
  if (found.launcher.empty()) {
    throw std::runtime_error(
        fmt::format("comparing with {} needs {}, which is not in PATH; on Debian: apt install {}",
                    name_of(who), of.launcher, of.package));
  }
  return found;
}

command peer_command(rival who, const peer_programs& programs, const task& t,
                     const std::string& scratch) {
  const bool bare = who == rival::bare;
  task peers = t;
  if (bare) peers.what = bare_limit(t.what, over_tcp(t)).value();
  if (!bare) peers.what.target = target_mode::waiting;
  command c{.program = programs.peer, .arguments = words_of(peers)};
  c.without = {"UCX_",           "FI_",         "OMPI_",       "ORTE_",       "PMIX_",
               "PMI_",           "MPIR_",       "MPICH_",      "HYDRA_",      "SLURM_",
               "HEDDLE_BOOT_FD", "HEDDLE_RANK", "HEDDLE_SIZE", "SOFTTOFU_JOB"};
  c.end_signal = SIGTERM;  // a launcher then ends its ranks, and removes its files
  c.own_group = true;
  switch (who) {
    case rival::openmpi:
      use_launcher(c, programs.launcher, {"-n", "2"});
      c.settings = openmpi_settings(t, scratch);
      break;
    case rival::mpich:
      use_launcher(c, programs.launcher,
                   {"-n", "2", "-launcher", "fork", "-iface", "lo", "-bind-to", "none"});
      c.settings = ucx_settings(t.backend);
      if (over_tcp(t)) c.settings.emplace_back("MPIR_CVAR_NOLOCAL=1");  // as if on two hosts
      break;
    case rival::ofi:
      c.settings = {over_tcp(t) ? "FI_PROVIDER=tcp,ofi_rxm" : "FI_PROVIDER=shm"};
      break;
    case rival::utofu:
      c.settings = {own_tofu_machine(scratch)};
      break;
    case rival::bare:
    case rival::verbs:
      break;  // the machine, the card that is there
    case rival::uncached:
      c.arguments = heddle_words(t, scratch);
      c.settings = {own_tofu_machine(scratch), "HEDDLE_BOOT=alone", "HEDDLE_RCACHE=off"};
      break;
    default:
      c.settings = ucx_settings(t.backend);
  }
  c.settings.emplace_back("LC_ALL=C");
  return c;
}

bool is_library(rival who) noexcept {
  return who != rival::bare && who != rival::pair;
}

bool is_in_this_job(rival who) noexcept {
  return who == rival::lock || who == rival::unloaded;
}

void check_rival(rival who, const task& t) {
  if (const char* const why = why_not(who, t)) {
    throw tools::usage_error(fmt::format("--compare {}: {}", name_of(who), why));
  }
  if (!is_in_this_job(who)) (void)find_peer(who);
}

round_result rival_round(rival who, const task& t) {
  const scratch_folder scratch;
  const std::vector<int> mine = bare::allowed_cores();
  bare::pin_this_thread(t.cores);  // the whole job's, not only those of this thread
  child program(peer_command(who, find_peer(who), t, scratch.path()));
  bare::pin_this_thread(mine);
  const bool ended = program.wait_until(std::chrono::steady_clock::now() + t.patience());
  if (who == rival::uncached) {
    if (ended && program.exit_status() == 0)
      return figures_in(read_records(records_in(scratch.path())), t.what);
  } else if (const auto rounds = parse_lines(program.output()); !rounds.empty()) {
    return rounds.back();  // whatever became of the program afterwards
  }
  throw rival_failure(how_it_failed(who, t, program, ended));
}

round_result figures_in(const std::vector<record>& records, const spec& s) {
  round_result round;
  for (const metric& m : metrics_of(s)) {
    const auto found = std::find_if(records.begin(), records.end(), [&m](const record& r) {
      return r.library == "heddle" && r.metric == m.name;
    });
    if (found == records.end()) throw rival_failure(fmt::format("its records have no {}", m.name));
    round.figures.push_back(found->median);
    if (s.what == kind::latency) round.p99 = found->p99;
  }
  return round;
}

}  // namespace heddle::bench
