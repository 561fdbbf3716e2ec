// SPDX-License-Identifier: BSD-3-Clause
#include "tracing/trace_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <heddle/info.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <iterator>
#include <map>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/log.h"

namespace heddle::trace {
namespace {

constexpr std::size_t chunk_bytes = 1 << 16;
/// A run that was shorter has its clock measured for so long.
constexpr std::uint64_t least_ns = 5'000'000;

std::string_view name_of(role r) noexcept {
  switch (r) {
    case role::executor:
      return "executor";
    case role::helper:
      return "helper";
    default:
      return "owner";
  }
}

std::string_view name_of(event_kind k) noexcept {
  constexpr std::array<std::string_view, 9> names{"operation", "operation",  "turn",
                                                  "help",      "sleep",      "wake",
                                                  "credit in", "credit out", "no room"};
  return names[static_cast<std::size_t>(k)];
}

/// Quotes and what else JSON does not take as it is.
std::string quoted(std::string_view text) {
  std::string made = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') made += '\\';
    if (static_cast<unsigned char>(c) < ' ')
      made += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    else
      made += c;
  }
  return made + '"';
}

/// Microseconds, to the nanosecond.
std::string time_of(const tick_scale& scale, std::uint64_t ticks) {
  return fmt::format("{:.3f}", scale.ns(ticks) / 1000);
}

std::string operation_arguments(const event& e) {
  std::string text = fmt::format(R"("lane":{},"peer":{},"bytes":{},"status":"{}","ended_by":"{}")",
                                 e.lane, e.peer, e.amount, heddle::name_of(e.code), name_of(e.by));
  if (!e.timed) text += R"(,"clock":"shared")";
  if ((e.tag & reserved_tag_bit) != 0)
    text += R"(,"collective":true)";
  else if (e.operation == operation_kind::send || e.operation == operation_kind::recv)
    text += fmt::format(R"(,"tag":"{}")", e.tag);  // more digits than a number of JSON's holds
  return text;
}

void add_operation(std::string& text, const event& e, const tick_scale& scale,
                   std::uint64_t number) {
  const auto end = std::back_inserter(text);
  const std::string_view name = heddle::name_of(e.operation);
  if (e.kind == event_kind::at_once && !e.timed) {
    fmt::format_to(end, R"({{"name":"{}","cat":"operation","ph":"i","ts":{},"pid":{},"tid":{},)",
                   name, time_of(scale, e.begin), e.self, e.ended_on);
    fmt::format_to(end, R"("s":"t","args":{{{}}}}})", operation_arguments(e));
    return;
  }
  if (e.kind == event_kind::at_once) {
    fmt::format_to(
        end, R"({{"name":"{}","cat":"operation","ph":"X","ts":{},"dur":{:.3f},"pid":{},"tid":{},)",
        name, time_of(scale, e.begin), (scale.ns(e.end) - scale.ns(e.begin)) / 1000, e.self,
        e.ended_on);
    fmt::format_to(end, R"("args":{{{}}}}})", operation_arguments(e));
    return;
  }
  const auto half = [&](char phase, std::uint64_t ticks, std::uint32_t thread) {
    fmt::format_to(
        end, R"({{"name":"{}","cat":"operation","ph":"{}","id2":{{"local":"{:#x}"}},"ts":{},)",
        name, phase, number, time_of(scale, ticks));
    fmt::format_to(end, R"("pid":{},"tid":{},"args":{{{}}}}})", e.self, thread,
                   phase == 'b' ? std::string() : operation_arguments(e));
  };
  half('b', e.begin, e.began_on);
  text += ",\n";
  half('e', e.end, e.ended_on);
}

void add_other(std::string& text, const event& e, const tick_scale& scale) {
  const auto end = std::back_inserter(text);
  const bool instant = e.begin == e.end;
  fmt::format_to(end, R"({{"name":"{}","cat":"engine","ph":"{}","ts":{},"pid":{},"tid":{},)",
                 name_of(e.kind), instant ? 'i' : 'X', time_of(scale, e.begin), e.self, e.ended_on);
  if (instant)
    text += R"("s":"t",)";
  else
    fmt::format_to(end, R"("dur":{:.3f},)", (scale.ns(e.end) - scale.ns(e.begin)) / 1000);
  const char* const amount = e.kind == event_kind::turn         ? "events"
                             : e.kind == event_kind::help       ? "commands"
                             : e.kind == event_kind::sleep      ? "woken"
                             : e.kind == event_kind::credit_in  ? "bytes"
                             : e.kind == event_kind::credit_out ? "bytes"
                                                                : "count";
  fmt::format_to(end, R"("args":{{"lane":{},"{}":{},"by":"{}")", e.lane, amount, e.amount,
                 name_of(e.by));
  if (e.peer >= 0) fmt::format_to(end, R"(,"peer":{})", e.peer);
  text += "}}";
}

std::string name_event(const char* what, std::int32_t self, std::uint32_t thread,
                       const std::string& name) {
  return fmt::format(R"({{"name":"{}","ph":"M","pid":{},"tid":{},"args":{{"name":{}}}}})", what,
                     self, thread, quoted(name));
}

std::uint64_t wall_ns() noexcept {
  timespec t{};
  clock_gettime(CLOCK_REALTIME, &t);
  return static_cast<std::uint64_t>(t.tv_sec) * 1'000'000'000u +
         static_cast<std::uint64_t>(t.tv_nsec);
}

/// Gives each operation that was not timed a place in time: evenly between the events before and
/// behind it on its thread.
class placement {
 public:
  /// Calls `write(event)` for what has its place now.
  template <class Write>
  void add(const event& e, Write&& write) {
    const bool waits = e.kind == event_kind::at_once && !e.timed;
    if (!waits || (!waiting_.empty() && waiting_.back().ended_on != e.ended_on))
      place_before(e.kind == event_kind::operation ? e.end : e.begin, e.ended_on, write);
    if (waits)
      waiting_.push_back(e);
    else
      write(e);
  }
  template <class Write>
  void finish(Write&& write) {
    place_before(0, 0, write);
  }

 private:
  template <class Write>
  void place_before(std::uint64_t next, std::uint32_t thread, Write&& write) {
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      event& e = waiting_[i];
      if (e.ended_on == thread && next > e.begin)
        e.begin = e.end = e.begin + (next - e.begin) / (waiting_.size() + 1) * (i + 1);
      write(e);
    }
    waiting_.clear();
  }
  std::vector<event> waiting_;  // of one thread, behind the same reading of the clock
};

}  // namespace

std::string path_for(const std::string& pattern, std::int32_t self, int size) {
  std::string path = pattern;
  const std::string number = std::to_string(self);
  std::size_t at = path.find("%r");
  const bool named = at != std::string::npos;
  for (; at != std::string::npos; at = path.find("%r", at + number.size()))
    path.replace(at, 2, number);
  if (named || size == 1) return path;
  const std::size_t name = path.rfind('/') + 1;  // 0 where there is none
  const std::size_t dot = path.rfind('.');
  return path.insert(dot == std::string::npos || dot <= name ? path.size() : dot, "." + number);
}

trace_file::trace_file(const std::string& pattern, std::int32_t self, int size,
                       std::uint32_t sample, std::size_t events)
    : path_(path_for(pattern, self, size)),
      sample_(sample),
      file_(open(path_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644)),
      all_(sample, events) {
  if (!file_) give_up(errno);
}

void trace_file::give_up(int code) noexcept {
  file_.reset();
  log::warn(
      log::subsystem::job,
      "no trace of this rank: {} cannot be written: {}; give HEDDLE_TRACE another place, with "
      "%r for the rank",
      path_, std::strerror(code));
}

bool trace_file::put(std::string_view text) noexcept {
  while (!text.empty()) {
    const ssize_t n = ::write(file_.get(), text.data(), text.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      give_up(n == 0 ? ENOSPC : errno);
      return false;
    }
    text.remove_prefix(static_cast<std::size_t>(n));
  }
  return true;
}

void trace_file::write(const traced_rank& of) noexcept {
  if (!file_) return;
  try {
    while (now_ns() < all_.began().ns + least_ns)
      std::this_thread::sleep_for(std::chrono::nanoseconds(least_ns / 5));
    const tick_scale scale(all_.began(), moment::now());
    std::string text = fmt::format(
        "{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}",
        name_event("process_name", of.self, 0, fmt::format("rank {} on {}", of.self, of.host)));
    std::map<std::uint32_t, role> threads;
    std::uint64_t number = 0;
    bool written = true;
    const auto add = [&](const event& e) {
      if (!written) return;
      threads[e.ended_on] = e.by;
      threads.try_emplace(e.began_on, role::owner);
      text += ",\n";
      if (e.kind == event_kind::operation || e.kind == event_kind::at_once)
        add_operation(text, e, scale, ++number);
      else
        add_other(text, e, scale);
      if (text.size() < chunk_bytes) return;
      written = put(text);
      text.clear();
    };
    placement places;
    const std::uint64_t lost = all_.each(of.self, [&](const event& e) { places.add(e, add); });
    places.finish(add);
    for (const auto& [thread, by] : threads)
      text += ",\n" +
              name_event("thread_name", of.self, thread, fmt::format("{} {}", name_of(by), thread));
    text += fmt::format(
        "\n],\"otherData\":{{\"program\":\"heddle {}\",\"rank\":{},\"size\":{},\"host\":{},"
        "\"sample\":{},\"lost_events\":{},\"monotonic_ns\":{},\"wall_ns\":{}}}}}\n",
        version(), of.self, of.size, quoted(of.host), sample_, lost, now_ns(), wall_ns());
    if (!written || !put(text)) return;
    if (::close(file_.release()) != 0) return give_up(errno);
    if (lost != 0)
      log::warn(log::subsystem::job,
                "the trace {} lacks the {} oldest events: HEDDLE_TRACE_EVENTS keeps more, "
                "HEDDLE_TRACE_SAMPLE records fewer",
                path_, lost);
  } catch (const std::exception&) {
    give_up(ENOMEM);
  }
}

}  // namespace heddle::trace
