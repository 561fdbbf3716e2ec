// SPDX-License-Identifier: BSD-3-Clause
// measure.cpp - the turns of the plan, and the rows' way to one rank.
#include "linktest/measure/measure.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "linktest/plan/plan.h"

namespace heddle::linktest {
namespace {

class run {
 public:
  run(meeting& ranks, const options& how, const message_memory& memory, const clock_facts& clock,
      const observer& watch, visit_log& log)
      : ranks_(ranks),
        how_(how),
        memory_(memory),
        clock_(clock),
        watch_(watch),
        log_(log),
        plan_(plan_of(how, ranks.wire().size())),
        out_{row(how.sizes.size(), ranks.wire().size(), how.repetitions)} {
    log_.restore(out_.measured);
  }

  run_result all() {
    for (std::uint64_t r = 0; r < how_.repetitions && !out_.stopped; ++r)
      for (std::int64_t s = 0; s < plan_.steps() && !out_.stopped; ++s)
        for (std::int64_t p = 0; p < plan_.phases() && !out_.stopped; ++p) unit(r, s, p);
    log_.flush();
    return std::move(out_);
  }

 private:
  void unit(std::uint64_t repetition, std::int64_t step, std::int64_t phase) {
    if (out_.units_done % units_between_meetings() == 0) {
      const std::uint32_t wish = watch_.stop_wanted() ? stop_requested : nothing_special;
      out_.stopped = (ranks_.meet(wish) & stop_requested) != 0;
      if (out_.stopped) return;
    }
    if (how_.all_to_all && phase == 0) talk_to_all();
    const turn mine = plan_.turn_of(ranks_.wire().self(), repetition, step, phase);
    for (std::size_t i = 0; i < how_.sizes.size(); ++i) {
      // Pairs of a step share wires on purpose, so all begin each size together.
      if (i > 0 && how_.mode == run_mode::parallel && how_.drift == 0) ranks_.meet(nothing_special);
      if (mine.peer >= 0) meet_peer(mine, i, repetition);
    }
    ++out_.units_done;
    const auto steps = plan_.steps(), phases = plan_.phases();
    watch_.on_unit({out_.units_done, how_.repetitions * static_cast<std::uint64_t>(steps * phases),
                    step + 1, steps, repetition + 1, how_.repetitions});
  }

  /// Its peers may be as late as a step's partner.
  void talk_to_all() {
    ranks_.meet(nothing_special);
    const auto begin = std::chrono::steady_clock::now();
    ranks_.talk_to_all();
    const std::chrono::duration<float> taken = std::chrono::steady_clock::now() - begin;
    out_.all_to_all_s.push_back(taken.count());
  }

  /// Where steps need not begin together, a rank waits for its partners only, and for all when it
  /// may be too far ahead.
  [[nodiscard]] std::uint64_t units_between_meetings() const noexcept {
    if (how_.mode == run_mode::serial || how_.drift == 0) return 1;
    return how_.drift * static_cast<std::uint64_t>(plan_.phases());
  }

  /// Only what this rank should have timed is its own to mark.
  void mark_lost(const turn& mine, std::size_t size_index) noexcept {
    if (mine.initiator) out_.measured.mark(size_index, mine.peer, pair_state::lost);
  }

  /// The last of a pair's visits goes on until enough is known.
  [[nodiscard]] visit visit_of(const turn& mine, std::size_t size_index,
                               std::uint64_t repetition) const noexcept {
    const bool last = repetition + 1 == how_.repetitions;
    const std::uint64_t most = last ? how_.most_repetitions : repetition + 1;
    return {{mine.peer, mine.initiator, out_.units_done * how_.sizes.size() + size_index, 1},
            how_.sizes[size_index],
            {how_.interval_percent / 100, most, how_.budget_ms / 1000},
            last && how_.singles != 0,
            clock_.look_s,
            knows(mine, size_index, repetition)};
  }

  [[nodiscard]] bool knows(const turn& mine, std::size_t size_index,
                           std::uint64_t repetition) const noexcept {
    return mine.initiator && log_.has(size_index, mine.peer, repetition);
  }

  void meet_peer(const turn& mine, std::size_t size_index, std::uint64_t repetition) {
    const bool known = knows(mine, size_index, repetition);
    if (ranks_.lost(mine.peer)) return known ? void() : mark_lost(mine, size_index);
    const std::span<const float> before = out_.measured.times(size_index, mine.peer);
    const std::size_t earlier = before.size();
    encounter with(ranks_.wire(), how_, memory_, visit_of(mine, size_index, repetition));
    const status s = with.run(before);
    if (s != status::done) ranks_.lose(mine.peer);
    if (!mine.initiator || known) return;
    out_.measured.set_times(size_index, mine.peer, with.times(), with.singles());
    if (s != status::done) return mark_lost(mine, size_index);
    if (with.corrupted()) out_.measured.mark(size_index, mine.peer, pair_state::corrupted);
    keep(with, earlier, mine.peer, size_index, repetition);
  }

  /// The first `earlier` of the times are those of earlier visits.
  void keep(const encounter& with, std::size_t earlier, int peer, std::size_t size_index,
            std::uint64_t repetition) {
    measured_visit visit;
    visit.peer = peer;
    visit.size_index = static_cast<std::uint32_t>(size_index);
    visit.repetition = static_cast<std::uint32_t>(repetition);
    if (with.corrupted()) visit.state = pair_state::corrupted;
    visit.times.assign(with.times().begin() + static_cast<std::ptrdiff_t>(earlier),
                       with.times().end());
    if (!with.singles().empty()) visit.singles = sketch_of(with.singles());
    log_.keep(std::move(visit));
  }

  meeting& ranks_;
  const options& how_;
  const message_memory& memory_;
  const clock_facts& clock_;
  const observer& watch_;
  visit_log& log_;
  plan plan_;
  run_result out_;
};

/// How many entries, and then these: a row has as many as its rank has met peers.
bool send_row(messenger& wire, rank to, std::span<const row_record> records) {
  const std::uint64_t entries = records.size();
  return wire.send(to, tag_for(purpose::rows, 0), std::as_bytes(std::span(&entries, 1))) ==
             status::done &&
         wire.send(to, tag_for(purpose::rows, 1), std::as_bytes(records)) == status::done;
}

std::optional<std::vector<row_record>> receive_row(messenger& wire, rank from, std::size_t sizes) {
  std::uint64_t entries = 0;
  const status told = wire.recv(from, tag_for(purpose::rows, 0),
                                std::as_writable_bytes(std::span(&entries, 1)), patience::meeting);
  if (told != status::done || entries > sizes * static_cast<std::uint64_t>(wire.size()))
    return std::nullopt;
  std::vector<row_record> records(entries);
  if (wire.recv(from, tag_for(purpose::rows, 1), std::as_writable_bytes(std::span(records)),
                patience::meeting) != status::done)
    return std::nullopt;
  return records;
}

/// False: that rank is lost.
bool receive_row_or_lose(meeting& ranks, rank from, results& all) {
  if (ranks.lost(from)) return false;
  const auto records = receive_row(ranks.wire(), from, all.sizes().size());
  if (records && all.set_row(from, *records)) return true;
  ranks.lose(from);
  return false;
}

std::vector<row_record> row_of_lost(const results& all, rank who, const plan& steps) {
  row unknown(all.sizes().size(), all.ranks(), 0);
  for (std::int64_t step = 0; step < steps.steps(); ++step)
    if (const std::int64_t peer = steps.partner(who, 0, step); peer != schedule::idle)
      unknown.mark_all_sizes(static_cast<int>(peer), pair_state::lost);
  return unknown.records();
}

}  // namespace

run_result measure(meeting& ranks, const options& how, const message_memory& memory,
                   const clock_facts& clock, const observer& watch, visit_log& log) {
  return run(ranks, how, memory, clock, watch, log).all();
}

gathered gather_rows(meeting& ranks, const row& mine, const plan& steps, results& all) {
  const std::vector<row_record> records = mine.records();
  const rank self = ranks.wire().self(), recorder = ranks.choose_recorder();
  if (self != recorder) {
    const bool delivered = !ranks.lost(recorder) && send_row(ranks.wire(), recorder, records);
    return {delivered ? gathered::place::elsewhere : gathered::place::nowhere, recorder};
  }
  gathered result{gathered::place::here, recorder};
  all.set_row(self, records);
  for (rank r = 0; r < ranks.wire().size(); ++r) {
    if (r == self) continue;
    if (receive_row_or_lose(ranks, r, all))
      ++result.heard;
    else
      all.set_row(r, row_of_lost(all, r, steps));
  }
  return result;
}

}  // namespace heddle::linktest
