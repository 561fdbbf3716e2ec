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

constexpr std::uint64_t full_wait_ms = 5;
constexpr std::uint64_t hint_after_ms = 10'000;
constexpr std::uint64_t start_limit_ms = 120'000;  ///< from the starter's start to the greeting
constexpr int drain_ms = 1000;
constexpr std::size_t most_names = 4;

}  // namespace

fleet::fleet(const host_process& here, meeting_place& meetings, group_owner& owner, outputs to,
             fleet_orders orders)
    : here_(here), meetings_(meetings), owner_(owner), to_(to), orders_(std::move(orders)) {
  const agent_link::handlers handlers{
      .greeted = [this](agent_link&) { greeted(); },
      .take = [this](agent_link& link, const message& m) { take(link, m); },
      .lost = [this](agent_link& link, const std::string& why) { lost(link, why); }};
  link_of_.resize(static_cast<std::size_t>(orders_.job.job_size));
  for (const host_ranks& host : orders_.hosts) {
    links_.push_back(std::make_unique<agent_link>(here_.loop, host, orders_.way, handlers));
    for (const int rank : host.ranks)
      link_of_[static_cast<std::size_t>(rank)] = links_.back().get();
  }
}

fleet::~fleet() = default;

void fleet::start() {
  for (auto& link : links_) link->start({here_.signals, guard_, here_.limits.found()});
  here_.loop.after(hint_after_ms, [this] { hint_at_missing(); });
  here_.loop.after(start_limit_ms, [this] {
    for (auto& link : links_)
      if (link->at() == agent_link::stage::starting && !ending_)
        lost(*link, fmt::format("{}: no agent answers", link->host()));
  });
}

void fleet::hint_at_missing() {
  std::string names;
  std::size_t missing = 0;
  for (const auto& link : links_) {
    if (link->at() != agent_link::stage::starting) continue;
    if (++missing <= most_names) names += (names.empty() ? "" : ", ") + link->host();
  }
  if (missing > most_names) names += fmt::format(" and {} more", missing - most_names);
  if (missing > 0 && !ending_) say("waiting for the agents on {} to start", names);
}

// No rank starts before it is known that all hosts can be reached.
void fleet::greeted() {
  const auto there = [](const auto& link) { return link->at() == agent_link::stage::greeted; };
  if (ending_ || launched_ || !std::all_of(links_.begin(), links_.end(), there)) return;
  launched_ = true;
  for (int rank = 0; rank < orders_.job.job_size; ++rank) running_.insert(rank);
  for (auto& link : links_) set_up(*link);
}

void fleet::set_up(agent_link& link) {
  agent_protocol::set_up job = orders_.job;
  job.host = link.host();
  job.ranks = link.ranks();
  job.command_of.clear();
  for (const int rank : job.ranks)
    job.command_of.push_back(orders_.job.command_of[static_cast<std::size_t>(rank)]);
  link.send(encode(job));
  link.watch_silence();
}

void fleet::take(agent_link& link, const message& m) {
  switch (m.kind) {
    case message_kind::impossible:
      return owner_.cannot_start(m.number(0) > 0 && m.number(0) < 256 ? m.number(0) : failed,
                                 bootstrap::protocol::decode_text(m.body));
    case message_kind::remark:
      return owner_.remark(bootstrap::protocol::decode_text(m.body));
    case message_kind::output:
      return take_output(link, m);
    case message_kind::hungry:
      return owner_.hungry();
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
                        message_kind::end};
  if (std::find(of_rank.begin(), of_rank.end(), m.kind) == of_rank.end()) return false;
  const auto& ranks = link.ranks();
  if (std::find(ranks.begin(), ranks.end(), m.numbers[0]) == ranks.end()) return false;
  if (m.kind == message_kind::ended) {
    rank_ended(link, m);
    return true;
  }
  if (m.kind != message_kind::started) return relayed_meetings::apply(m, meetings_);
  owner_.rank_started(m.number(0), m.number(1), link.host());
  return true;
}

void fleet::rank_ended(agent_link& link, const message& m) {
  if (running_.erase(m.number(0)) == 0) return;
  owner_.rank_ended({m.number(0), m.number(1), m.number(2), link.host()});
}

void fleet::take_output(agent_link& link, const message& m) {
  const int number = m.number(0);
  sink& to = stream(number);
  to.write(m.text());
  if (to.closed()) return link.send(message{message_kind::unread, {number}});
  unacknowledged_.push_back({&link, number, m.body.size()});
  if (unacknowledged_.size() == 1) acknowledge_output();
}

// An agent sends on when the launcher's own output has room: what is read slowly fills no memory.
void fleet::acknowledge_output() {
  std::erase_if(unacknowledged_, [this](const unacknowledged& u) {
    if (stream(u.stream).full()) return false;
    u.link->send(message{message_kind::taken, {u.stream, static_cast<std::int64_t>(u.bytes)}});
    return true;
  });
  if (!unacknowledged_.empty()) here_.loop.after(full_wait_ms, [this] { acknowledge_output(); });
}

// Ranks of which nothing was heard have not been started; why has been said.
void fleet::done(agent_link& link) {
  link.close();
  for (const int rank : link.ranks())
    if (running_.erase(rank) != 0)
      meetings_.end(rank, fmt::format("rank {} could not be started on {}", rank, link.host()));
}

void fleet::lost(agent_link& link, const std::string& why) {
  link.close();
  for (const int rank : link.ranks()) {
    if (launched_)
      meetings_.end(rank, fmt::format("rank {} is lost with its host {}", rank, link.host()));
    running_.erase(rank);
  }
  if (launched_) return owner_.host_lost(why);
  owner_.cannot_start(failed, why);
  leave_agents();
}

void fleet::reap(const std::vector<ended_child>& ended) {
  for (const ended_child& child : ended)
    for (auto& link : links_) link->child_ended(child.process, child.wait_status);
}

void fleet::input(std::string_view piece) {
  link_of_[0]->send(message{message_kind::input, {}, agent_protocol::bytes_of(piece)});
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
  if (ending_ || std::find(ends.begin(), ends.end(), signal) == ends.end()) return;
  leave_agents();
  owner_.cannot_start(128 + signal, "ended before all agents had started");
}

void fleet::leave_agents() {
  if (std::exchange(ending_, true)) return;
  for (auto& link : links_) link->close();
}

void fleet::abandon() {
  for (auto& link : links_) {
    if (link->at() != agent_link::stage::greeted) continue;
    say("host {} does not answer: its agent ends what runs there when it finds the channel closed, "
        "or has heard nothing for {} s",
        link->host(), orders_.way.silence_s);
    link->close();
  }
}

bool fleet::all_gone() const {
  return std::all_of(links_.begin(), links_.end(), [](const auto& link) { return link->gone(); });
}

void fleet::deliver(const std::vector<rendezvous::reply>& replies) {
  // One message per host and answer, however many of its ranks wait for it.
  std::map<std::pair<agent_link*, const rendezvous::blob*>, std::vector<rendezvous::reply>> parts;
  for (const auto& reply : replies)
    parts[{link_of_[static_cast<std::size_t>(reply.rank)], reply.bytes.get()}].push_back(reply);
  for (const auto& [to, part] : parts) to.first->send(relayed_meetings::reply_to(part));
}

}  // namespace heddle::tools
