// SPDX-License-Identifier: BSD-3-Clause
#include "run/agent_link.h"

#include <fcntl.h>
#include <heddle/info.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>

#include "run/failure.h"

namespace heddle::tools {

using agent_protocol::message;

namespace {

/// A password cannot be asked for without a terminal; the last two find a dead host for ssh itself.
const std::vector<std::string> ssh{"ssh", "-T",
                                   "-x",  "-a",
                                   "-o",  "BatchMode=yes",
                                   "-o",  "ConnectTimeout=10",
                                   "-o",  "ServerAliveInterval=10",
                                   "-o",  "ServerAliveCountMax=3"};
constexpr std::uint64_t cause_wait_ms =
    200;  ///< the channel's end and the starter's: which is first?
constexpr std::uint64_t end_wait_ms = 2000;  ///< for a starter to end by itself

struct pipe_ends {
  unique_fd read, write;
};

pipe_ends make_pipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail_errno(errno, "make a pipe");
  return {unique_fd(ends[0]), unique_fd(ends[1])};
}

std::string own_program() {
  std::error_code problem;
  const auto path = std::filesystem::read_symlink("/proc/self/exe", problem);
  if (problem) fail_errno(problem.value(), "find this program's own file");
  return path.string();
}

/// As a shell on the other side reads it.
std::string quoted(const std::string& word) {
  const auto plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("/._-+:@%").find(c) != std::string_view::npos;
  };
  if (!word.empty() && std::all_of(word.begin(), word.end(), plain)) return word;
  std::string text = "'";
  for (const char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return text + "'";
}

}  // namespace

bool is_this_host(const std::string& name) {
  std::array<char, 256> own{};
  if (gethostname(own.data(), own.size() - 1) != 0) return name == "localhost";
  const std::string here = own.data();
  return name == "localhost" || name == here || name == here.substr(0, here.find('.'));
}

agent_link::agent_link(event_loop& loop, branch to_start, const reach& way, handlers to)
    : loop_(loop),
      branch_(std::move(to_start)),
      way_(way),
      to_(std::move(to)),
      direct_(way.starter.empty() && is_this_host(host())) {}

agent_link::~agent_link() {
  *alive_ = false;
}

std::vector<std::string> agent_link::start_command() const {
  const std::string heddle = way_.heddle.empty() ? own_program() : way_.heddle;
  if (direct_) return {heddle, "agent"};
  std::vector<std::string> words = way_.starter.empty() ? ssh : way_.starter;
  words.insert(words.end(), {host(), quoted(heddle), "agent"});
  return words;
}

void agent_link::start(const surroundings& around) {
  pipe_ends in = make_pipe(), out = make_pipe(), errors = make_pipe();
  command what;
  what.arguments = start_command();
  what.path = what.arguments.front();
  for (char** pair = environ; *pair != nullptr; ++pair) what.environment.emplace_back(*pair);
  placement where;
  where.input = in.read.get();
  where.output = out.write.get();
  where.errors = errors.write.get();
  where.own_session = true;
  const started child = start_rank(what, where, around);
  guard_ = &around.guard;
  if (child.exec_error != 0) {
    guard_->forget(child.pid);
    const bool missing = child.exec_error == ENOENT;
    throw error(fmt::format(
        "{}: cannot run {}: {}: {}", host(), what.path,
        missing ? "no such program" : strerrordesc_np(child.exec_error),
        direct_ ? "--remote-heddle PATH names another one" : "--starter CMD names another one"));
  }
  starter_ = group_ = child.pid;
  connect(std::move(out.read), std::move(in.write), std::move(errors.read));
}

void agent_link::connect(unique_fd in, unique_fd out, unique_fd errors) {
  const channel::handlers from_agent{
      .greeted = [this](const agent_protocol::greeting& g) { greet(g); },
      .take = [this](message m) { take(std::move(m)); },
      .ended =
          [this](const std::string& why) {
            channel_ended_ = true;
            channel_end_ = why;
            ended(why);
          }};
  channel_.emplace(loop_, std::move(in), std::move(out), from_agent, true);
  // Before the greeting it is a login's or a starter's, and counts only if there will be no agent.
  errors_.emplace(loop_, std::move(errors), [this](const std::string& line) {
    last_error_ = line;
    if (is_alive()) to_.told(*this, line);
  });
}

void agent_link::greet(const agent_protocol::greeting& g) {
  // What was printed before the greeting may not have been read before it: there are two pipes.
  errors_->read();
  errors_->forget_begun();
  if (g.build == version() && g.protocol == agent_protocol::version) {
    at_ = stage::greeted;
    channel_->watch_silence(way_.silence_s, [this] {
      lose(fmt::format("host {} is lost (nothing heard for {} s)", host(), way_.silence_s));
    });
    return send(encode(below()));
  }
  const bool same_name = g.build == version();
  lose(
      fmt::format("{} has {}Heddle {}, this is {}: install the same one on all hosts, or name it "
                  "with --remote-heddle PATH",
                  host(), same_name ? "another build of " : "", g.build, version()));
}

void agent_link::take(message m) {
  const bool said_ready = m.kind == agent_protocol::message_kind::ready;
  if (said_ready && at_ == stage::greeted) return become_ready();
  to_.take(*this, std::move(m));
}

void agent_link::become_ready() {
  at_ = stage::ready;
  to_.ready(*this);
}

// What means something in this process's directory must mean the same in that of the agent.
agent_protocol::subtree agent_link::below() const {
  agent_protocol::subtree s{way_, branch_.below};
  s.way.from = host();
  if (s.way.heddle.empty()) s.way.heddle = own_program();
  if (!s.way.starter.empty() && s.way.starter.front().find('/') != std::string::npos)
    s.way.starter.front() = std::filesystem::absolute(s.way.starter.front()).string();
  return s;
}

std::vector<host_ranks> agent_link::hosts() const {
  std::vector<host_ranks> all{branch_.host};
  all.insert(all.end(), branch_.below.begin(), branch_.below.end());
  return all;
}

void agent_link::send(const message& m) {
  if (channel_) channel_->send(m);
}

void agent_link::drain(int ms) {
  if (channel_) channel_->drain(ms);
}

void agent_link::close() {
  const bool no_agent = at_ == stage::starting;
  if (at_ != stage::lost) at_ = stage::done;
  if (channel_) channel_->close();
  if (starter_ < 0) return;
  if (no_agent) kill(-group_, SIGTERM);  // it may be waiting for something else than its input
  loop_.after(end_wait_ms, [this, alive = alive_] {
    if (*alive && starter_ > 0) kill(-group_, SIGKILL);
  });
}

void agent_link::child_ended(pid_t process, int wait_status) {
  if (process != starter_) return;
  starter_ = -1;
  starter_end_ = wait_status;
  if (kill(-group_, SIGTERM) != 0) guard_->forget(group_);  // else: the guardian sees to the rest
  ended("");
}

// The channel's end and the starter's come together; the second tells more.
void agent_link::ended(const std::string& why) {
  if (at_ == stage::done || at_ == stage::lost) return;
  const auto tell = [this] { lose(at_ == stage::starting ? why_no_agent() : why_lost()); };
  if (!why.empty() || (starter_end_ && channel_ended_)) {
    if (errors_) errors_->read();
    return tell();
  }
  loop_.after(cause_wait_ms, [this, tell, alive = alive_] {
    if (*alive && at_ != stage::done && at_ != stage::lost) tell();
  });
}

void agent_link::lose(const std::string& why) {
  if (at_ == stage::lost) return;
  std::vector<std::string> others;
  if (is_alive())
    for (const host_ranks& other : branch_.below) others.push_back(other.name);
  at_ = stage::lost;
  close();
  to_.lost(*this, others.empty() ? why : fmt::format("{}, and with it {}", why, some_of(others)));
}

std::string agent_link::why_no_agent() const {
  const std::string starter = direct_ ? "heddle agent" : start_command().front();
  const std::string heddle = way_.heddle.empty() ? own_program() : way_.heddle;
  const std::string heard = last_error_.empty() ? channel_->noise() : last_error_;
  if (!channel_end_.empty()) return fmt::format("{}: {}: {}", host(), starter, channel_end_);
  const int status = starter_end_ ? shell_status(*starter_end_) : 0;
  if (!direct_ && (status == 127 || status == 126))
    return fmt::format("{} has no {}: --remote-heddle PATH says where it is there{}", host(),
                       heddle, heard.empty() ? "" : " (" + heard + ")");
  std::string how = starter_end_ ? describe_end(*starter_end_) : "closed the channel";
  if (direct_)
    return fmt::format("{}: the agent {} before it answered{}", host(), how,
                       heard.empty() ? "" : ": " + heard);
  if (!heard.empty())
    how = heard.starts_with(starter + ": ") ? heard.substr(starter.size() + 2) : heard;
  while (how.ends_with('.')) how.pop_back();
  return fmt::format(
      "{0}: {1}: {2}: make `{3} {0} true` work{4} without a password", host(), starter, how,
      way_.starter.empty() ? starter : fmt::format("{}", fmt::join(way_.starter, " ")),
      way_.from.empty() ? "" : " on " + way_.from);
}

std::string agent_link::why_lost() const {
  const std::string starter = direct_ ? "its agent" : start_command().front();
  std::string how = "its agent has ended";
  if (!channel_end_.empty())
    how = channel_end_;
  else if (starter_end_)
    how = fmt::format("{} {}", starter, describe_end(*starter_end_));
  return fmt::format("host {} is lost ({})", host(), how);
}

}  // namespace heddle::tools
