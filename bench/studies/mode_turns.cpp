// SPDX-License-Identifier: BSD-3-Clause
// mode_turns.cpp - a session after the other, each with its setting.
#include "studies/mode_turns.h"

#include <cstdlib>

#include "parts/bare.h"
#include "parts/pinning.h"

namespace heddle::bench {

mode_turns::mode_turns(const options& o) : o_(o), cores_(bare::allowed_cores()) {}

void mode_turns::play_round(case_result& c, const turn& play) {
  for (series& mode : c.contenders) {
    bare::pin_this_thread(cores_);  // as the session before found it
    setenv("HEDDLE_PROGRESS", mode.op.c_str(), 1);
    session in(o_);
    add_round(mode, {play(in)});
    c.backend = in.backend();
    reports_ = in.reports();
    if (reports_ && &mode == &c.contenders.back()) {
      const bare::core_pair pair{cores_.front(), cores_[1 % cores_.size()]};
      c.cache_line_ns.push_back(bare::cache_line_one_way(pair, std::chrono::milliseconds(20)) *
                                1e9);
    }
    in.job().barrier();
  }
}

void mode_turns::hold_rounds(case_result& c, const turn& play, const describe& title) {
  for (int round = 0; round < o_.rounds; ++round) {
    play_round(c, play);
    if (!reports_) continue;
    if (round == 0) print_line(title(c) + '\n' + round_heading(c));
    print_line(round_line(c));
  }
}

void mode_turns::conclude(const case_result& c) {
  if (!reports_) return;
  print_line(summary_table(c));
  const std::vector<record> more = records_of(c);
  records_.insert(records_.end(), more.begin(), more.end());
}

void mode_turns::write() const {
  if (reports_ && !o_.json_file.empty()) write_records(o_.json_file, records_);
}

}  // namespace heddle::bench
