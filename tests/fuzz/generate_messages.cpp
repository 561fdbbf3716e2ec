// SPDX-License-Identifier: BSD-3-Clause
// generate_messages.cpp - actions that send and receive.
#include <algorithm>
#include <map>
#include <set>

#include "fuzz/generate_actions.h"

namespace heddle::fuzz {
namespace {

struct stream_place {
  int lane, to_lane, from, from_thread, to, to_thread;
  [[nodiscard]] stream_place back() const {
    return {to_lane, lane, to, to_thread, from, from_thread};
  }
};

stream_place any_stream(draws& in) {
  stream_place at{};
  at.lane = in.d.one_of(in.p.lanes).number;
  at.from = in.d.below(in.p.ranks);
  at.to_lane = in.d.percent(30) ? in.d.one_of(in.p.lanes).number : at.lane;
  at.to = in.d.percent(10) ? at.from : in.d.below(in.p.ranks);
  at.from_thread = in.thread_for(at.lane);
  at.to_thread = in.thread_for(at.to_lane);
  return at;
}

step send(draws& in, const stream_place& at, std::uint64_t tag, std::uint64_t bytes) {
  step s = in.blank(verb::send);
  s.rank = at.from, s.thread = at.from_thread, s.lane = at.lane, s.peer = at.to;
  if (at.to_lane != at.lane) s.to_lane = at.to_lane;
  s.tag = tag, s.bytes = bytes, s.ends = in.any_ending();
  return s;
}

step receive(draws& in, const stream_place& at, std::uint64_t tag, std::uint64_t bytes) {
  step s = in.blank(verb::recv);
  s.rank = at.to, s.thread = at.to_thread, s.lane = at.to_lane, s.peer = at.from;
  s.tag = tag, s.bytes = bytes, s.ends = in.any_ending();
  if (s.ends == ending::counter) s.ends = ending::queue;
  return s;
}

/// In any of the ways that accept all of a group.
void widen(step& receive, bool any_source, bool any_low) {
  if (any_source) receive.peer = -1;
  if (any_low) receive.mask = ~std::uint64_t{0xff};
}

/// Messages that may be taken before number `i`.
std::size_t ahead(const action& sends, std::size_t i) {
  std::size_t n = i;
  for (std::size_t k = i + 1; k < sends.size(); ++k)
    n += sends[k].rank != sends[i].rank || sends[k].tag != sends[i].tag ? 1 : 0;
  return n;
}

/// For what the receive takes.
step probe(draws& in, const step& receive, bool wait) {
  step s = receive;
  s.id = in.next_id++;
  s.what = verb::probe;
  s.ends = wait ? ending::blocking : ending::flag;
  s.bytes = 0;
  return s;
}

/// In any order, each list keeping its own; who waits must not wait for what comes later.
action merge(draws& in, action& sends, action& receives) {
  action all;
  std::size_t i = 0, j = 0;
  int run = 0;
  bool turn = in.d.percent(50);
  while (i < sends.size() || j < receives.size()) {
    if (run-- <= 0) turn = in.d.percent(50), run = in.d.between(0, 6);
    const bool sending = j == receives.size() || (i < sends.size() && turn);
    step& s = sending ? sends[i] : receives[j];
    const bool ready = sending ? j > ahead(sends, i) : i > j;
    if (!ready && (s.ends == ending::blocking || s.ends == ending::coroutine))
      s.ends = in.free_ending();
    if (in.d.percent(5) && !receives.empty() && receives[0].what == verb::recv)
      all.push_back(probe(in, receives[0], i > j && in.d.percent(50)));
    ++(sending ? i : j);
    all.push_back(s);
  }
  return all;
}

void remove_second_cancels(action& a) {
  std::set<int> seen;
  std::erase_if(a,
                [&](const step& s) { return s.what == verb::cancel && !seen.insert(s.of).second; });
}

}  // namespace

action stream(draws& in) {
  const stream_place at = any_stream(in);
  const std::uint64_t tag = in.new_tag();
  const int count = in.d.percent(20) ? in.d.between(6, 14) : in.d.between(1, 5);
  action sends, receives;
  for (int i = 0; i < count; ++i) {
    const std::uint64_t bytes = in.message_size();
    sends.push_back(send(in, at, tag, bytes));
    const bool cut = bytes > 0 && in.d.percent(5);
    receives.push_back(
        receive(in, at, tag, cut ? in.d.any() % bytes : bytes + (in.d.percent(50) ? 0 : 33)));
    widen(receives.back(), in.d.percent(30), in.d.percent(30));
  }
  return merge(in, sends, receives);
}

action exchange(draws& in) {
  const stream_place there = any_stream(in);
  const stream_place back = there.back();
  const std::uint64_t large = in.new_tag(), small = in.new_tag();
  action burst, answers;
  for (int i = in.d.between(2, 6); i > 0; --i) {
    const std::uint64_t bytes = in.d.size(300);
    burst.push_back(send(in, there, small, bytes));
    answers.push_back(receive(in, there, small, bytes));
  }
  for (int i = in.d.between(1, 2); i > 0; --i) {
    const std::uint64_t bytes = in.d.one_of<std::uint64_t>({5000, 20000, 70000, 300000});
    answers.insert(answers.begin(), send(in, back, large, bytes));
    const int place = in.d.below(static_cast<int>(burst.size()) + 1);
    burst.insert(burst.begin() + place, receive(in, back, large, 300000));
  }
  step wait = burst[0];  // the large ones are announced meanwhile
  wait.id = in.next_id++;
  wait.what = verb::pause;
  wait.bytes = static_cast<std::uint64_t>(in.d.between(0, 3000));
  burst.insert(burst.begin(), wait);
  burst.insert(in.d.percent(70) ? burst.begin() : burst.end(), answers.begin(), answers.end());
  for (step& s : burst) s.ends = in.free_ending();
  return burst;
}

action crowd(draws& in) {
  const std::uint64_t tag = in.new_tag();
  stream_place at = any_stream(in);
  action sends, receives;
  std::uint64_t largest = 0;
  std::map<int, int> threads;
  const int count = in.d.between(2, 7);
  for (int i = 0; i < count; ++i) {
    at.from = in.d.below(in.p.ranks);
    at.from_thread = threads.emplace(at.from, in.thread_for(at.lane)).first->second;
    const std::uint64_t low = static_cast<std::uint64_t>(in.d.below(2));
    sends.push_back(send(in, at, tag | low, std::min<std::uint64_t>(in.message_size(), 100000)));
    largest = std::max(largest, sends.back().bytes);
  }
  for (int i = 0; i < count; ++i) {
    receives.push_back(receive(in, at, tag, largest));
    widen(receives.back(), true, true);
  }
  return merge(in, sends, receives);
}

action taken_back(draws& in) {
  const stream_place at = any_stream(in);
  const std::uint64_t tag = in.new_tag();
  const int messages = in.d.between(0, 3), spare = in.d.between(1, 3);
  action sends, receives;
  for (int i = 0; i < messages; ++i) {
    sends.push_back(send(in, at, tag, in.d.size(70000)));
    sends.back().ends = in.free_ending();
  }
  for (int i = 0; i < messages + spare; ++i) {
    receives.push_back(receive(in, at, tag, 70004));
    receives.back().ends = in.free_ending();
  }
  const action posted = receives;
  for (int i = 0; i < spare; ++i) {
    step c = receive(in, at, 0, 0);
    c.what = verb::cancel, c.ends = ending::flag, c.peer = 0;
    c.of = in.d.one_of(posted).id;
    receives.push_back(c);
  }
  remove_second_cancels(receives);
  return merge(in, sends, receives);
}

action calls(draws& in) {
  action all;
  const int count = in.d.between(1, 4);
  for (int i = 0; i < count; ++i) {
    step s = in.blank(verb::call);
    s.header = in.d.one_of({0, 4, 8, 63, 64});
    s.bytes = in.d.size(300000);
    if (in.d.percent(30)) s.to_lane = in.d.one_of(in.p.lanes).number;
    if (s.header < 4) s.bytes = std::max<std::uint64_t>(s.bytes, 4);
    s.ends = in.any_ending();
    if (s.ends == ending::coroutine) s.ends = ending::callback;
    all.push_back(s);
  }
  return all;
}

}  // namespace heddle::fuzz
