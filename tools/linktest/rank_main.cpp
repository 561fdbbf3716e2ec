// SPDX-License-Identifier: BSD-3-Clause
// rank_main.cpp - one rank of a link test.
#include "linktest/rank_main.h"

#include <fmt/format.h>
#include <heddle/heddle.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>
#include <span>

#include "linktest/draw/terminal.h"
#include "linktest/impossible_option.h"
#include "linktest/inspection.h"
#include "linktest/job_hosts.h"
#include "linktest/measure/core_wait.h"
#include "linktest/measure/lane_carriers.h"
#include "linktest/measure/lane_messenger.h"
#include "linktest/measure/measure.h"
#include "linktest/measure/retest.h"
#include "linktest/measure/stop_signal.h"
#include "linktest/measure/text_gathering.h"
#include "linktest/measure/visit_log.h"
#include "linktest/plan/dry_run.h"
#include "linktest/reporter.h"
#include "linktest/results/introduction.h"
#include "linktest/results/output.h"
#include "linktest/results/step_bandwidth.h"
#include "linktest/run_of_sections.h"
#include "standard_output.h"

namespace heddle::linktest {
namespace {

/// This process's part in the job over one layer. Members are destroyed from the last
/// to the first: the memory before the world, and the completions that were given up after it.
class participant {
 public:
  participant(const options& chosen, run_of_sections& sections)
      : sections_(sections),
        lane_(path_, std::chrono::nanoseconds(static_cast<std::int64_t>(chosen.timeout_s * 1e9)),
              given_up_, &asked_),
        wire_(lane_),
        ranks_(wire_) {
    asked_.join(job_);
  }

  /// The sections of this layer. False in `go_on`: the user wants an end, or it cannot be measured.
  int run(const std::string& layer, bool& go_on) {
    int status = success;
    for (const section& one : sections_.all()) {
      if (one.how.layer != layer || !go_on) continue;
      status = worse_of(status, run(one, go_on));
    }
    return status;
  }

 private:
  /// Where ranks take turns on a core, a step has no common beginning to wait for, and how long a
  /// turn of warming takes says when the scheduler had its turn.
  static constexpr std::uint64_t drift_when_crowded = 4;
  static constexpr int warming_turns_when_crowded = 1;

  int run(const section& one, bool& go_on) {
    section_ = &one;
    how_ = one.how;
    how_.halves =
        for_hosts(how_.halves, host_numbers_of(job_), groups_of(job_, how_.search.groups));
    began_ = {};
    report_.reset();
    run_folder_ = one.how.output;
    folder_ = sections_.place_of(one, run_folder_, 0).folder();
    written_before_.clear();
    whole_ = false;
    earlier_.reset();
    const std::uint32_t reasons = agree_to_begin();
    if ((reasons & (cannot_start | measured_already)) != 0) {
      go_on = (reasons & cannot_start) == 0;
      const int refusal = (reasons & no_wrong_option) != 0 ? failed : bad_usage;
      return go_on ? earlier_.value_or(success) : refusal;
    }
    settle_in();
    const message_memory memory{memory_->send.local(), memory_->receive.local(),
                                carriers_->of(one.how.op)};
    const clock_facts of_clock = look_at_clock();
    bare_times bare;
    if (one.how.op == operation::send)
      bare = bare_ping_pong(path_, one.how.sizes, one.how.messages, memory);
    if (report_) report_->know(of_clock, bare);
    options how = how_;
    if (crowded_ && how.drift == 0) how.drift = drift_when_crowded;
    if (crowded_) how.warming_turns = warming_turns_when_crowded;
    visit_log log = open_log();
    const core_wait watched;
    const run_result mine = measure(ranks_, how, memory, of_clock,
                                    {[this](const progress& p) {
                                       if (report_) report_->update(p);
                                     },
                                     [this] { return stop_signal::seen() != 0 || time_is_up(); }},
                                    log);
    kept_from_core_ = gather_texts(ranks_, as_text(watched));
    int status = conclude(mine, memory);
    if (log.problem() != 0) tell_unkept(log.path(), log.problem());
    const std::uint32_t losses = close(log);
    go_on = !interrupted_ && !cut_off_ && (losses & stop_requested) == 0;
    if (const std::string rest = kept_from(losses); go_on && !rest.empty()) {
      go_on = false;
      status = worse_of(status, incomplete);
      if (report_)
        tools::complain(fmt::format(
            "heddle linktest: a rank was lost, so these sections are left out: {}\n", rest));
    }
    leave_if_unsettled(status);
    return status;
  }

  [[nodiscard]] const options& chosen() const noexcept { return how_; }
  [[nodiscard]] bool first() const noexcept { return job_.rank() == 0; }

  [[nodiscard]] bool time_is_up() const {
    return chosen().search.time_s > 0 && began_.seconds_ago() > chosen().search.time_s;
  }

  void open_report() {
    inspection_.emplace(chosen());
    const std::string folder = sections_.folder_of(*section_);
    report_.emplace(chosen(), folder, job_, began_, sections_.first_begun(*section_, began_.utc));
  }
  /// In the place of rank 0, which has begun with the same folder.
  void take_over_report() {
    inspection_.emplace(chosen());
    options taken_over = chosen();
    taken_over.overwrite = true;
    taken_over.resume.clear();
    if (!run_folder_.empty()) sections_.take_over(run_folder_);
    report_.emplace(taken_over, run_folder_.empty() ? sections_.folder_of(*section_) : folder_,
                    job_, began_, began_.utc);
    report_->know(introductions_);
  }

  /// The reasons of all ranks not to begin with a section; they have been printed where they arose.
  std::uint32_t agree_to_begin() {
    std::uint32_t notes = nothing_special;
    if (const std::string why = impossible_option(chosen(), job_); !why.empty()) {
      tools::complain(fmt::format("heddle linktest: {}\n", why));
      notes |= cannot_start;
    } else if (first()) {
      try {
        if (section_ == &sections_.all().front()) sections_.prove_baselines();
        earlier_ = sections_.measured_before(*section_);
        if (earlier_)
          notes |= measured_already;
        else
          open_report();
      } catch (const tools::usage_error& wrong) {
        tools::complain(fmt::format("heddle linktest: {}\n", wrong.what()));
        notes |= cannot_start;
      } catch (const error& problem) {
        tools::complain(fmt::format("heddle linktest: {}\n", problem.what()));
        notes |= cannot_start | no_wrong_option;
      }
    }
    return ranks_.meet(notes);
  }

  /// The first section makes memory for all.
  void settle_in() {
    if (!memory_) {
      introduce_all();
      std::size_t send = 0, receive = 0;
      for (const section& one : sections_.all()) {
        send = std::max(send, send_bytes(one.how));
        receive = std::max(receive, receive_bytes(one.how));
      }
      memory_.emplace(
          common_memory{job_.symmetric<std::byte>(send), job_.symmetric<std::byte>(receive)});
      carriers_.emplace(lane_, *memory_, arrived_);
      arrived_.join(job_, memory_->receive.local());
    }
    bool shared = false;
    if (report_) {
      sections_.begin(*section_);
      shared = report_->greet(introductions_);
    }
    crowded_ = (ranks_.meet(shared ? crowded_host : nothing_special) & crowded_host) != 0;
  }

  /// Rank 0 hears everybody, and the next ones all that it has heard: whoever takes its place
  /// cannot ask those that are lost by then.
  void introduce_all() {
    constexpr rank heirs = 3;
    introductions_ = gather_texts(ranks_, own_introduction());
    told_before_ = share_texts(ranks_, introductions_, heirs);
  }
  /// Collective, once `recorder` has taken the place of rank 0.
  void introduce_all_to(rank recorder) {
    introductions_ = gather_texts(ranks_, own_introduction(), recorder);
    for (std::size_t r = 0; r < std::min(introductions_.size(), told_before_.size()); ++r)
      if (introductions_[r].empty()) introductions_[r] = told_before_[r];
  }
  [[nodiscard]] std::string own_introduction() const {
    bool first_of_host = true;
    for (rank r = 0; r < job_.rank() && first_of_host; ++r)
      first_of_host = ranks_.lost(r) || job_.host_number(r) != job_.host_number(job_.rank());
    return introduce(first_of_host);
  }

  /// What this rank measured in earlier sittings, and where it keeps what it measures now.
  visit_log open_log() {
    std::string place;
    log_place where;
    try {
      if (report_) where = sections_.open(*section_, report_->facts());
      place = fmt::format("{:016x}{}", where.run, where.run_folder);
    } catch (const std::exception& why) {
      tools::complain(
          fmt::format("heddle linktest: cannot be gone on with later: {}\n", why.what()));
      place.clear();
    }
    constexpr std::size_t digits = 16;
    place = share_text(ranks_, place);
    if (place.size() <= digits) return {};
    run_folder_ = place.substr(digits);
    where = sections_.place_of(*section_, run_folder_,
                               std::strtoull(place.substr(0, digits).c_str(), nullptr, 16));
    folder_ = where.folder();
    written_before_ = look_for_results(folder_);
    try {
      return {where, job_.rank(), hosts_of(job_), chosen().sizes.size()};
    } catch (const error& why) {
      tools::complain(fmt::format("heddle linktest: rank {}: {}; all is measured again\n",
                                  job_.rank(), why.what()));
      return {};
    }
  }

  void tell_unkept(const std::string& path, int problem) const {
    tools::complain(fmt::format(
        "heddle linktest: rank {} could not keep what it measured in {} ({}): --resume would "
        "measure it again\n",
        job_.rank(), path, std::strerror(problem)));
  }

  /// Collective. Nobody takes his shard away before all is in the files. Returns the notes that
  /// tell what the ranks have lost for what comes next.
  std::uint32_t close(visit_log& log) {
    std::uint32_t notes = whole_ ? all_written : nothing_special;
    if (stop_signal::seen() != 0) notes |= stop_requested;
    if (!given_up_.settled()) notes |= cannot_go_on;
    for (rank r = 0; r < job_.size(); ++r)
      if (ranks_.lost(r)) notes |= lost_somebody;
    notes = ranks_.meet(notes);
    if (ranks_.choose_recorder() != 0) notes |= cannot_go_on;
    if ((notes & all_written) != 0) {
      if (report_) sections_.close(*section_);
      log.forget();
    }
    return notes;
  }

  /// The sections behind this one, where such losses make them impossible; else nothing.
  [[nodiscard]] std::string kept_from(std::uint32_t losses) const {
    const std::span<const section> behind = sections_.behind(*section_);
    const bool same_job = !behind.empty() && behind[0].how.layer == chosen().layer;
    if ((losses & cannot_go_on) == 0 && (same_job || (losses & lost_somebody) == 0)) return {};
    std::string names;
    for (const section& one : behind) names += (names.empty() ? "" : ", ") + one.name;
    return names;
  }

  /// Stopped by the user, or because the time was up before every planned pair had its turn.
  int conclude(const run_result& mine, const message_memory& memory) {
    results all(job_.size(), chosen().kernel, chosen().sizes);
    if (cost_of(chosen(), job_.size()).file_bytes != 0)
      all.keep_rows_in(report_ ? report_->folder() : folder_);
    const plan steps = plan_of(chosen(), job_.size());
    const gathered got = gather_rows(ranks_, mine.measured, steps, all);
    if (got.recorder != 0) introduce_all_to(got.recorder);
    const bool signalled = stop_signal::seen() != 0;
    interrupted_ =
        (ranks_.meet(signalled ? stop_requested : nothing_special) & stop_requested) != 0;
    retest again(ranks_, chosen(), memory, steps, got.recorder,
                 [] { return stop_signal::seen() != 0; });
    if (got.rows == gathered::place::elsewhere) {
      if (!interrupted_) again.serve();
      return success;
    }
    if (got.rows == gathered::place::here && may_write(got)) {
      if (mine.stopped && !interrupted_)
        all.set_sample(all.count(pair_state::measured) / all.sizes().size());
      else if (steps.ordered_pairs() < plan(job_.size(), chosen().mode, false, 0).ordered_pairs())
        all.set_sample(steps.ordered_pairs());
      return report(mine, all, steps, again);
    }
    cut_off_ = true;
    tools::complain(fmt::format(
        "heddle linktest: rank {} cannot reach most others any more; its results are lost{}\n",
        job_.rank(), got.rows == gathered::place::here ? ", theirs are in " + folder_ : ""));
    return incomplete;
  }

  /// Ranks that were cut off from most others, or stopped for a while, must not write over the
  /// results that these have written since.
  [[nodiscard]] bool may_write(const gathered& got) const {
    return 2 * (got.heard + 1) > job_.size() || look_for_results(folder_) == written_before_;
  }

  int report(const run_result& mine, const results& all, const plan& steps, retest& again) {
    if (!report_) {
      tools::complain(fmt::format("heddle linktest: rank 0 is lost; rank {} writes the results\n",
                                  job_.rank()));
      take_over_report();
    }
    if (interrupted_) report_->interrupted();
    const findings found = look_for_slow_parts(all, steps, again);
    const bool at_once = chosen().mode == run_mode::parallel && !chosen().shuffle;
    report_->know(at_once ? step_bandwidths(all, steps) : std::vector<spread>{}, mine.all_to_all_s);
    report_->know(found);
    report_->know(sections_.compare_layers(*section_, report_->facts(), all));
    const int verdict = report_->finish(all, found);
    whole_ = !report_->facts().interrupted && all.missing() == 0;
    sections_.end(*section_, report_->facts(), all, {whole_, verdict});
    const int signal = stop_signal::seen();
    if (interrupted_ || signal != 0) return 128 + (signal == 0 ? SIGINT : signal);
    return verdict;
  }

  /// Whoever interrupts does not want to wait for retests, and gets no diagnosis without them: what
  /// is slow only beside others would be named as slow, and drained.
  findings look_for_slow_parts(const results& all, const plan& steps, retest& again) {
    const run_setting setting{report_->facts(), steps};
    sized_prober probes;
    bool cut_short = false;
    if (!interrupted_)
      probes = [&](std::span<const probe> wanted, std::uint64_t bytes) {
        cut_short |= stop_signal::seen() != 0;
        std::vector<float> times;
        if (!cut_short) times = again.ask(wanted, bytes);
        cut_short |= again.stopped();
        return times;
      };
    findings found =
        inspection_->inspect(all, setting, crowded_, shares_in(kept_from_core_), probes);
    if (!interrupted_) again.end();
    if (cut_short) report_->interrupted();
    if (interrupted_ || cut_short)
      found.withdraw_diagnosis("stopped before slow pairs were all measured again, to make sure");
    return found;
  }

  /// An operation that was given up and never ended may still write to our memory: then the process
  /// ends here, without taking that memory apart.
  void leave_if_unsettled(int status) {
    if (given_up_.settled()) return;
    report_.reset();
    std::_Exit(tools::finish_output(status));
  }

  run_of_sections& sections_;
  const section* section_ = nullptr;  // that is being measured
  options how_;                       // of it, with the halves of this job
  std::string run_folder_, folder_;   // of the run and the section, as rank 0 has told
  std::optional<int> earlier_;        // on rank 0: with which status it was measured before
  results_written written_before_;    // results that were there already
  beginning began_;
  abandoned given_up_;
  roll_call asked_;
  arrival_counter arrived_;
  world job_;
  lane path_{job_};
  bounded_lane lane_;
  lane_messenger wire_;
  meeting ranks_;
  std::optional<common_memory> memory_;
  std::optional<lane_carriers> carriers_;
  std::vector<std::string> introductions_;   // on the rank that reports
  std::vector<std::string> told_before_;     // those of before, for who may come after rank 0
  std::vector<std::string> kept_from_core_;  // on rank 0: which part of its time each rank was
  std::optional<inspection> inspection_;
  std::optional<reporter> report_;
  bool interrupted_ = false;  // by the user, as all ranks have agreed
  bool cut_off_ = false;      // from those who have the results
  bool crowded_ = false;      // ranks share cores on some host, as rank 0 has found
  bool whole_ = false;        // this rank has written the files, and nothing is left to go on with
};

}  // namespace

int run_rank(options chosen) {
  tools::outlive_readers();
  const stop_signal watching;
  chosen = resolve_terminal(std::move(chosen));
  run_of_sections sections(chosen);
  std::optional<world> joined;  // what several layers have in common
  if (chosen.layers.size() > 1) joined.emplace();
  const char* const usual = std::getenv("HEDDLE_BACKENDS");
  const std::string before = usual == nullptr ? "" : usual;
  int status = success;
  bool go_on = true;
  for (const std::string& layer : chosen.layers) {
    if (!go_on) break;
    if (layer != "auto")
      setenv("HEDDLE_BACKENDS", layer.c_str(), 1);
    else if (usual == nullptr)
      unsetenv("HEDDLE_BACKENDS");
    else
      setenv("HEDDLE_BACKENDS", before.c_str(), 1);
    std::optional<participant> self;
    try {
      self.emplace(chosen, sections);
    } catch (const error& why) {
      if (layer == "auto") throw;
      tools::complain(fmt::format("heddle linktest: with --layers {}: {}\n", layer, why.what()));
      return bad_usage;
    }
    status = worse_of(status, self->run(layer, go_on));
  }
  return status;
}

}  // namespace heddle::linktest
