// SPDX-License-Identifier: BSD-3-Clause
// agent_protocol.h - what the launcher and its agents on other hosts say to each other, and the
// parser for it.
//
// An agent begins with a greeting, a line of text, since login scripts may have printed before it.
// Then both sides send messages, each of a kind, some numbers and a body:
//
//   launcher   numbers                     body
//   branch     see subtree below           comes first, and once
//   set_up     see set_up below
//   reply      round, ranks...             a frame of launcher_protocol.h for these ranks
//   signal     signal
//   input                                  for rank 0; empty: the end
//   taken      stream, bytes               of output: as many more may come
//   unread     stream                      nobody reads that output any more
//
//   agent
//   started    rank, process
//   ended      rank, process, wait status
//   ready                                  so are the agents of its branch
//   lost       ranks...                    they are lost with their host, and why
//   impossible exit status                 why ranks cannot be started
//   remark                                 a host, a line's end, something that people should know
//   output     stream (1 or 2)             whole lines
//   begin      rank, round, limit in ms
//   joined     rank
//   call       rank, round, frame kind     a blob
//   leave      rank, round                 why
//   end        rank                        why
//   abort      rank, exit status           why the job is to end
//   wants_input                            rank 0 has read the last input
//   done                                   nothing is left of the ranks
//
//   both
//   ping                                   I am still here
//
// An agent with a branch passes on what is for the ranks there, and what comes from them.
//
// A message travels in pieces of at most 64 KiB. Numbers are little-endian.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "run/binding.h"
#include "run/hosts.h"

namespace heddle::tools::agent_protocol {

/// Rises with every change that the two sides must agree on.
inline constexpr int version = 5;

enum class message_kind : std::uint8_t {
  branch = 1,
  set_up,
  reply,
  signal,
  input,
  taken,
  unread,
  started,
  ended,
  ready,
  lost,
  impossible,
  remark,
  output,
  begin,
  joined,
  call,
  leave,
  end,
  wants_input,
  done,
  ping,
  abort,
};

struct message {
  message_kind kind;
  std::vector<std::int64_t> numbers{};
  std::vector<std::byte> body{};

  /// The i-th number, which the parser has found to be there.
  [[nodiscard]] int number(std::size_t i) const { return static_cast<int>(numbers[i]); }
  [[nodiscard]] std::string_view text() const {
    return {reinterpret_cast<const char*>(body.data()), body.size()};
  }
};

[[nodiscard]] std::vector<std::byte> bytes_of(std::string_view text);

/// The message's bytes as they travel.
[[nodiscard]] std::vector<std::byte> encode(const message& m);

/// Cuts a byte stream into messages. Total: any bytes are either messages, with all the numbers
/// that their kind has, or make it broken. Keeps at most one message, which is bounded.
class message_parser {
 public:
  message_parser() noexcept;
  void push(std::span<const std::byte> received);
  /// From now on messages may be as long as those for ranks of a job of `ranks`. Before, as long as
  /// what starts the largest job.
  void expect_ranks(int ranks) noexcept;
  /// The next whole message, if there is one.
  [[nodiscard]] std::optional<message> next();
  /// True once the stream was not this protocol; next() then gives nothing any more.
  [[nodiscard]] bool broken() const noexcept { return broken_; }

 private:
  std::optional<message> fail();

  std::vector<std::byte> received_;
  std::size_t taken_ = 0;  ///< of received_
  std::uint8_t kind_ = 0;  ///< of the message that begun_ is a part of; 0: none
  std::vector<std::byte> begun_;
  std::size_t most_;  ///< bytes in a message
  bool broken_ = false;
};

/// What an agent says first.
struct greeting {
  int protocol = 0;
  std::string build;  ///< the version of Heddle
};
[[nodiscard]] std::string encode(const greeting& g);

/// Finds the greeting in what comes from another host.
class greeting_scanner {
 public:
  /// The greeting, once it is there; what came behind it is then in rest().
  [[nodiscard]] std::optional<greeting> push(std::span<const std::byte> received);
  [[nodiscard]] std::span<const std::byte> rest() const noexcept;
  /// So much came without a greeting that there is no agent.
  [[nodiscard]] bool hopeless() const noexcept { return text_.size() > most_noise; }
  /// The last line that was no greeting, for people.
  [[nodiscard]] std::string noise() const;

 private:
  static constexpr std::size_t most_noise = 1024 * 1024;

  std::string text_ = "\n";
  std::size_t begin_ = 0;  ///< of the greeting, or of what has not been looked at
  std::size_t end_ = 0;    ///< of the greeting
};

/// What each agent hears first: how long the launcher may be silent, and which agents this one is
/// to start, and how.
struct subtree {
  reach way;  ///< without its directory
  std::vector<host_ranks> hosts;
};
[[nodiscard]] message encode(const subtree& s);
/// Nothing unless the message is a possible subtree.
[[nodiscard]] std::optional<subtree> decode_subtree(const message& m);

/// What an agent, and those of its branch, are to run.
struct set_up {
  int job_size = 1;
  bool prefix = false;
  binding bind{binding::unit::none};
  std::vector<int> ranks;       ///< of this host and of those of its branch
  std::vector<int> command_of;  ///< by place in `ranks`: an index in `commands`
  std::array<std::byte, 32> secret{};
  std::string host, directory;
  std::string output_folder;                       ///< empty: what ranks print goes to the launcher
  std::vector<std::vector<std::string>> commands;  ///< each a program, then its arguments
  std::vector<std::string> environment;            ///< NAME=value
};
[[nodiscard]] message encode(const set_up& s);
/// Nothing unless the message is a set-up of a possible job.
[[nodiscard]] std::optional<set_up> decode_set_up(const message& m);

}  // namespace heddle::tools::agent_protocol
