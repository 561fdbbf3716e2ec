// SPDX-License-Identifier: BSD-3-Clause
// hosts.h - which hosts a job runs on, how many ranks each takes, as people write it, and how
// agents are started there.
#pragma once
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::tools {

/// A host and how many ranks it takes.
struct host_slots {
  std::string name;  ///< as the starter is to be told: maybe "user@host", or an address
  int slots;
};

/// "a:4,b:4", also "user@a", "[fd88::1]:2" and Slurm's "n[01-03,7]:4". No number means 1; a host
/// that comes twice takes both. Throws usage_error.
[[nodiscard]] std::vector<host_slots> parse_hosts(std::string_view list);

/// A file's text, one line for a host or a list of such: "host slots=4" as OpenMPI has it, "host:4"
/// as MPICH has it; "host user=me" is me@host, what else these two allow is skipped. '#' and "//"
/// begin a comment, and "/*" one up to "*/". `name` is the file's, for people. Throws usage_error,
/// naming the line.
[[nodiscard]] std::vector<host_slots> parse_hostfile(std::string_view text, std::string_view name);

/// "0,4-7" as its numbers, as wide as the first of each range is written. Throws usage_error.
[[nodiscard]] std::vector<std::string> number_list(std::string_view text);
/// The other way round, ascending.
[[nodiscard]] std::string ranges_of(std::vector<int> numbers);
/// "a, b and 3 more": `limit` names at most.
[[nodiscard]] std::string some_of(const std::vector<std::string>& names, std::size_t limit = 4);
/// Nothing unless the text is a number that is not negative.
[[nodiscard]] std::optional<int> whole_number(std::string_view text);

/// A host and the ranks that it runs.
struct host_ranks {
  std::string name;
  std::vector<int> ranks;
};

/// In which order ranks are given to hosts.
enum class placing {
  filling,  ///< each host as many as it takes before the next one gets any: neighbours are together
  dealing,  ///< one to each host that still takes one, then again: neighbours are on two hosts
};

/// Gives the hosts `ranks` ranks, or as many as they take; hosts without ranks are left out. Throws
/// usage_error when there are too few slots.
[[nodiscard]] std::vector<host_ranks> place_ranks(const std::vector<host_slots>& hosts,
                                                  std::optional<int> ranks,
                                                  placing order = placing::filling);

/// A host whose agent is started from here, and the hosts whose agents that one starts.
struct branch {
  host_ranks host;
  std::vector<host_ranks> below{};
};

/// The hosts, in their order, as at most `fanout` branches of about the same size. Those in `near`
/// have nothing below them, and nobody else starts them. Fanout is at least 1; more near hosts than
/// that are branches all the same.
[[nodiscard]] std::vector<branch> branches_of(const std::vector<host_ranks>& hosts, int fanout,
                                              const std::function<bool(const std::string&)>& near);

/// How agents are reached.
struct reach {
  std::vector<std::string> starter{};  ///< words before the host; empty: ssh
  std::string heddle{};                ///< on the hosts; empty: as here
  std::string directory{};             ///< on the hosts; empty: this process's
  std::string from{};                  ///< the host that starts them; empty: the launcher's
  int silence_s = 30;                  ///< after which the other side is lost; 0: never
  int fanout = 32;                     ///< most hosts that one process starts agents on
};

/// What the options say about hosts, as given; empty ones were not.
struct host_options {
  std::string hosts, hostfile;
  std::string starter, heddle, directory;
  std::optional<int> silence_s, fanout;

  [[nodiscard]] bool given() const noexcept { return !hosts.empty() || !hostfile.empty(); }
};

}  // namespace heddle::tools
