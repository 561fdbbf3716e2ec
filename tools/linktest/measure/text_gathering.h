// SPDX-License-Identifier: BSD-3-Clause
// text_gathering.h - what every rank tells of itself, brought to one: before anything is measured,
// and how it went.
#pragma once
#include <string>
#include <vector>

#include "linktest/measure/meeting.h"

namespace heddle::linktest {

/// Collective. Rank `to` gets the texts by rank, an empty one from a rank that cannot be reached;
/// the others get nothing.
[[nodiscard]] std::vector<std::string> gather_texts(meeting& ranks, const std::string& mine,
                                                    rank to = 0);

/// Collective. The text of rank 0, everywhere; empty where it could not be heard.
[[nodiscard]] std::string share_text(meeting& ranks, const std::string& of_rank_0);

/// Collective. Of the texts that rank 0 has gathered, by rank: all of them on the next `heirs`
/// ranks, which write the results when it is lost, and on those behind them its own. What could not
/// be heard is empty; rank 0 gets nothing.
[[nodiscard]] std::vector<std::string> share_texts(meeting& ranks,
                                                   const std::vector<std::string>& of_rank_0,
                                                   rank heirs);

}  // namespace heddle::linktest
