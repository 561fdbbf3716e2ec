// SPDX-License-Identifier: BSD-3-Clause
// agent_fuzz.cpp - libFuzzer target over everything that the launcher reads of its agents, and
// agents of their launcher.
//
// First byte: how many bytes are pushed at a time. Then a greeting and messages, or whatever it is.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "run/agent_protocol.h"

namespace {

using namespace heddle::tools::agent_protocol;
using input = std::span<const std::byte>;

void require(bool holds) {
  if (!holds) std::abort();
}

// What a set-up or a branch says holds together, and comes back from what it is printed to.
void look_at(const message& m) {
  if (const auto below = decode_subtree(m)) {
    require(!below->hosts.empty() && below->way.fanout > 0);
    for (const auto& host : below->hosts) require(!host.ranks.empty());
    require(decode_subtree(encode(*below)).has_value());
  }
  const auto job = decode_set_up(m);
  if (!job) return;
  require(job->ranks.size() == job->command_of.size() && !job->commands.empty());
  for (const int rank : job->ranks) require(rank >= 0 && rank < job->job_size);
  for (const int command : job->command_of)
    require(!job->commands[static_cast<std::size_t>(command)].empty());
  const auto again = decode_set_up(encode(*job));
  require(again && again->commands == job->commands && again->environment == job->environment);
}

void take_messages(message_parser& parser, input bytes) {
  parser.push(bytes);
  while (const auto m = parser.next()) {
    message_parser other;
    other.push(encode(*m));
    const auto back = other.next();
    require(back && back->numbers == m->numbers && back->body == m->body);
    look_at(*m);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = data[0] + std::size_t{1};
  const input bytes = std::as_bytes(std::span(data + 1, size - 1));
  greeting_scanner scanner;
  message_parser with_greeting, without;
  bool greeted = false;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    const input part = bytes.subspan(at, std::min(piece, bytes.size() - at));
    take_messages(without, part);
    if (greeted) {
      take_messages(with_greeting, part);
    } else if (scanner.push(part)) {
      greeted = true;
      take_messages(with_greeting, scanner.rest());
    }
  }
  (void)scanner.noise();
  return 0;
}
