// SPDX-License-Identifier: BSD-3-Clause
#include "run/fleet.h"

#include <signal.h>

#include <algorithm>
#include <map>

#include "exit_status.h"
#include "run/failure.h"
#include "run/relayed_meetings.h"

namespace heddle::tools {

using agent_protocol::message;
using agent_protocol::message_kind;

namespace {

constexpr std::uint64_t hint_after_ms = 10'000;
constexpr std::uint64_t start_limit_ms = 120'000;  ///< from the starter's start to the greeting
constexpr int drain_ms = 1000;

/// A remark's host, and what it says.
std::pair<std::string, std::string> remark_of(const message& m) {
  const std::string_view both = m.text();
  const std::size_t end = std::min(both.find('\n'), both.size());
  const auto readable = [](std::string_view text) {
    return bootstrap::protocol::decode_text(std::as_bytes(std::span(text)));
  };
  return {readable(both.substr(0, end)), readable(both.substr(std::min(end + 1, both.size())))};
}

}  // namespace

fleet::fleet(const host_process& here, meeting_place& meetings, group_owner& owner,
             relayed_output::sinks to, fleet_orders orders)
    : here_(here),
      meetings_(meetings),
      owner_(owner),
      output_(here.loop, to),
      orders_(std::move(orders)) {
  const agent_link::handlers handlers{
      .ready = [this](agent_link&) { ready(); },
      .take = [this](agent_link& link, const message& m) { take(link, m); },
      .lost = [this](agent_link& link, const std::string& why) { lost(link, why); },
      .told = [this](agent_link& link,
                     const std::string& line) { owner_.remark(link.host(), line); }};
  const auto near = [this](const std::string& name) {
    return orders_.way.starter.empty() && is_this_host(name);
  };
  for (const branch& one : branches_of(orders_.hosts, orders_.way.fanout, near)) {
    links_.push_back(std::make_unique<agent_link>(here_.loop, one, orders_.way, handlers));
    for (const host_ranks& host : links_.back()->hosts())
      for (const int rank : host.ranks) places_[rank] = {links_.back().get(), host.name};
  }
}

void fleet::start() {
  for (auto& link : links_) link->start({here_.signals, guard_, here_.limits.found()});
  here_.loop.after(hint_after_ms, [this] { hint_at_missing(); });
  here_.loop.after(start_limit_ms, [this] {
    for (auto& link : links_)
      if (link->at() == agent_link::stage::starting && !left_)
        lost(*link, fmt::format("{}: no agent answers", link->host()));
  });
}

void fleet::hint_at_missing() {
  std::vector<std::string> missing;
  for (const auto& link : links_)
    if (link->at() == agent_link::stage::starting) missing.push_back(link->host());
  if (!missing.empty() && !left_)
    owner_.remark("", fmt::format("waiting for the agents on {} to start", some_of(missing)));
}

// No rank starts before it is known that all hosts can be reached.
void fleet::ready() {
  const auto there = [](const auto& link) { return link->at() == agent_link::stage::ready; };
  if (left_ || launched_ || !std::all_of(links_.begin(), links_.end(), there)) return;
  ready_();
}

void fleet::launch(const agent_protocol::set_up& job) {
  launched_ = true;
  std::map<const agent_link*, agent_protocol::set_up> parts;
  for (auto& link : links_) {
    agent_protocol::set_up& part = parts[link.get()] = job;
    part.host = link->host();
    part.ranks.clear();
    part.command_of.clear();
  }
  for (std::size_t i = 0; i < job.ranks.size(); ++i) {
    const auto found = places_.find(job.ranks[i]);
    if (found == places_.end()) continue;
    running_.insert(job.ranks[i]);
    agent_protocol::set_up& part = parts[found->second.link];
    part.ranks.push_back(job.ranks[i]);
    part.command_of.push_back(job.command_of[i]);
  }
  for (auto& link : links_) link->send(encode(parts[link.get()]));
}

bool fleet::is_behind(const agent_link& link, std::int64_t rank) const {
  if (rank < 0 || rank >= bootstrap::protocol::max_ranks) return false;
  const auto found = places_.find(static_cast<int>(rank));
  return found != places_.end() && found->second.link == &link;
}

std::vector<int> fleet::ranks_behind(const agent_link& link) const {
  std::vector<int> ranks;
  for (const auto& [rank, where] : places_)
    if (where.link == &link) ranks.push_back(rank);
  return ranks;
}

void fleet::take(agent_link& link, const message& m) {
  switch (m.kind) {
    case message_kind::impossible:
      return owner_.cannot_start(m.number(0) > 0 && m.number(0) < 256 ? m.number(0) : failed,
                                 bootstrap::protocol::decode_text(m.body));
    case message_kind::remark: {
      const auto [host, text] = remark_of(m);
      return owner_.remark(host, text);
    }
    case message_kind::output:
      return output_.take(m.number(0), m.text(), [&link](const message& a) { link.send(a); });
    case message_kind::wants_input:
      return owner_.wants_input();
    case message_kind::lost:
      return take_loss(link, m);
    case message_kind::done:
      return done(link);
    default:
      if (!take_from_rank(link, m))
        lost(link,
             fmt::format("host {} is lost (its agent does not speak this launcher's protocol)",
                         link.host()));
  }
}

bool fleet::take_from_rank(agent_link& link, const message& m) {
  const auto of_rank = {message_kind::started, message_kind::ended, message_kind::begin,
                        message_kind::joined,  message_kind::call,  message_kind::leave,
                        message_kind::end,     message_kind::abort};
  if (std::find(of_rank.begin(), of_rank.end(), m.kind) == of_rank.end()) return false;
  if (!is_behind(link, m.numbers[0])) return false;
  const int rank = m.number(0);
  switch (m.kind) {
    case message_kind::started:
      owner_.rank_started(rank, m.number(1), places_[rank].host);
      return true;
    case message_kind::ended:
      if (running_.erase(rank) != 0)
        owner_.rank_ended({rank, m.number(1), m.number(2), places_[rank].host});
      return true;
    default:
      return relayed_meetings::apply(m, meetings_);
  }
}

// Of a host further down; its agent's own agent has seen it.
void fleet::take_loss(agent_link& link, const message& m) {
  std::vector<int> ranks;
  for (const std::int64_t rank : m.numbers)
    if (is_behind(link, rank)) ranks.push_back(static_cast<int>(rank));
  for (const int rank : ranks) running_.erase(rank);
  owner_.host_lost(ranks, bootstrap::protocol::decode_text(m.body));
}

// Ranks of which nothing was heard have not been started; why has been said.
void fleet::done(agent_link& link) {
  link.close();
  for (const int rank : ranks_behind(link))
    if (running_.erase(rank) != 0)
      meetings_.end(rank,
                    fmt::format("rank {} could not be started on {}", rank, places_[rank].host));
}

void fleet::lost(agent_link& link, const std::string& why) {
  link.close();
  const std::vector<int> ranks = ranks_behind(link);
  if (!launched_) {
    owner_.cannot_start(failed, why);
    return leave();
  }
  for (const int rank : ranks) {
    meetings_.end(rank, fmt::format("rank {} is lost with its host {}", rank, places_[rank].host));
    running_.erase(rank);
  }
  owner_.host_lost(ranks, why);
}

void fleet::reap(const std::vector<ended_child>& ended) {
  for (const ended_child& child : ended)
    for (auto& link : links_) link->child_ended(child.process, child.wait_status);
}

void fleet::input(std::string_view piece) {
  const auto first = places_.find(0);
  if (first == places_.end()) return;
  first->second.link->send(message{message_kind::input, {}, agent_protocol::bytes_of(piece)});
}

void fleet::signal(int signal) {
  if (!launched_) return signal_before_launch(signal);
  for (auto& link : links_) {
    link->send(message{message_kind::signal, {signal}});
    if (signal == SIGSTOP) link->drain(drain_ms);
  }
}

// There are only agents yet, which end when they are left.
void fleet::signal_before_launch(int signal) {
  const auto ends = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGKILL};
  if (left_ || std::find(ends.begin(), ends.end(), signal) == ends.end()) return;
  leave();
  owner_.cannot_start(128 + signal, "ended before all agents had started");
}

void fleet::leave() {
  if (std::exchange(left_, true)) return;
  for (auto& link : links_) link->close();
}

void fleet::abandon() {
  for (auto& link : links_) {
    if (!link->is_alive()) continue;
    owner_.remark("", fmt::format("host {} does not answer: its agent ends what runs there when it "
                                  "finds the channel closed, or has heard nothing for {} s",
                                  link->host(), orders_.way.silence_s));
    link->close();
  }
}

bool fleet::all_gone() const {
  return std::all_of(links_.begin(), links_.end(), [](const auto& link) { return link->gone(); });
}

void fleet::deliver(const std::vector<meeting_rounds::reply>& replies) {
  // One message per host and answer, however many of its ranks wait for it.
  std::map<std::pair<agent_link*, const meeting_rounds::blob*>, std::vector<meeting_rounds::reply>>
      parts;
  for (const auto& reply : replies)
    parts[{places_.at(reply.rank).link, reply.bytes.get()}].push_back(reply);
  for (const auto& [to, part] : parts) to.first->send(relayed_meetings::reply_to(part));
}

}  // namespace heddle::tools
