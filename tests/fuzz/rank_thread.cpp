// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/rank_thread.h"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "base/clock.h"
#include "fuzz/shortage.h"
#include "fuzz/verdict.h"

namespace heddle::fuzz {
namespace {

using namespace std::chrono_literals;

/// For callbacks and coroutines.
void deliver(void* owner, std::uint64_t, const outcome& how) noexcept {
  auto& s = *static_cast<slot*>(owner);
  s.how = how;
  s.facts->ends.fetch_add(1);
  s.ended = true;
}

bool is_message(verb v) {
  return v == verb::send || v == verb::recv;
}

}  // namespace

void rank_thread::run(int phase) {
  counted_ = std::make_unique<counter>();
  queue_ = std::make_unique<completion_queue>(4);
  for (const step& s : plan_.steps) {
    const bool mine = s.rank == world_.rank() || s.rank == all_ranks;
    if (s.phase != phase || is_late(s.what) || !mine || s.thread != number_) continue;
    run(s);
  }
  settle();
  slots_.clear();
  by_counter_.clear();
}

void rank_thread::run(const step& s) {
  facts_.of_rank(world_.rank()).doing[static_cast<std::size_t>(number_)] = s.id;
  facts_of(s).at = stage::begun;
  switch (s.what) {
    case verb::flush:
    case verb::fence:
      s.as == form::posted ? operate(s) : wait_for_order(s);
      break;
    case verb::poll:
    case verb::pause:
      wait_for_order(s);
      break;
    case verb::cancel:
      cancel(s);
      break;
    case verb::probe:
      probe(s);
      break;
    case verb::mistake:
      err(s);
      break;
    case verb::kill:
    case verb::stop:
      harm(s);
      break;
    case verb::reopen:
      reopen(s);
      break;
    default:
      operate(s);
      break;
  }
  facts_.of_rank(world_.rank()).doing[static_cast<std::size_t>(number_)] = -1;
  facts_.moved();
}

// --- operations ---------------------------------------------------------------------------------

void rank_thread::operate(const step& s) {
  slot& made = slots_.emplace_back();
  made.what = &s;
  made.facts = &facts_of(s);
  if (s.as == form::grouped) made.members = &members_.at(s.lane);
  if (s.as == form::placed) made.handler = placed;
  if (s.as == form::named) made.handler = world_.handler(called_name);
  prepare(made, world_.rank(), plan_.ranks);
  if (s.ends == ending::blocking && s.what != verb::put_notify) {
    made.how = block(on(s), memory_, made);
    made.facts->answer = made.how.code;
    made.facts->ends = 1;
    return end(made, made.how);
  }
  if (s.ends == ending::coroutine) {
    made.facts->answer = status::posted;
    made.facts->at = stage::posted;
    spawn(on(s), memory_, made, {&deliver, &made, 0});
    if (is_message(s.what) || s.as == form::posted) await(made);
    return;
  }
  take(made, post_or_end_shortage(made));
  if (s.as == form::posted && made.facts->at == stage::posted) await(made);
}

/// Without memory for a receive, its message would stay, and a sender that waits for a place for it
/// would wait for ever: the shortage ends there, as in a program that frees something.
status rank_thread::post_or_end_shortage(slot& s) {
  const step& what = *s.what;
  const attempt ask = [&] { return post(on(what), memory_, s, completion_of(s)); };
  const status answer = insist(what, ask);
  if (what.what != verb::recv || answer != status::no_memory) return answer;
  end_shortage();
  return insist(what, ask);
}

completion rank_thread::completion_of(slot& s) {
  switch (s.what->ends) {
    case ending::counter:
      return *counted_;
    case ending::callback:
      return {&deliver, &s, static_cast<std::uint64_t>(s.what->id)};
    case ending::queue:
      return queue_->with(reinterpret_cast<std::uint64_t>(&s));
    default:
      return s.ended_flag;
  }
}

void rank_thread::take(slot& s, status answer) {
  s.facts->answer = answer;
  if (answer != status::posted) return end(s, {.code = answer});
  s.facts->at = stage::posted;
  if (s.what->ends == ending::counter) by_counter_.push_back(&s);
}

/// Everything about it is known now.
void rank_thread::end(slot& s, const outcome& how) {
  if (s.facts->at == stage::ended) return;
  s.how = how;
  s.facts->code = how.code;
  inspect(plan_, facts_, memory_, s, world_.rank());
  s.facts->at = stage::ended;
  facts_.moved();
}

status rank_thread::insist(const step& s, const attempt& ask) {
  status answer = ask();
  while (is_busy(answer)) {
    if (answer == status::busy_lane || s.id % 3 == 0) {
      on(s).poll();
    } else if (s.id % 3 == 1) {
      world_.idle_hook();
    } else {
      flag room;
      on(s).when_ready(room);
      (void)on(s).wait(room);
    }
    answer = ask();
  }
  return answer;
}

// --- what has no completion ---------------------------------------------------------------------

void rank_thread::wait_for_order(const step& s) {
  record& r = facts_of(s);
  if (orders(s.what)) r.code = order(on(s), s);
  for (std::uint64_t i = 0; s.what == verb::poll && i < s.bytes; ++i) on(s).poll();
  if (s.what == verb::pause) {
    const std::uint64_t end = now_ns() + s.bytes * 1000;
    while (now_ns() < end) {
    }
  }
  r.at = stage::ended;
}

void rank_thread::cancel(const step& s) {
  record& r = facts_of(s);
  for (slot& posted : slots_) {
    if (posted.what->id != s.of) continue;
    const completion which = completion_of(posted);
    r.answer = posted.facts->at == stage::posted
                   ? insist(s, [&] { return on(s).try_cancel(which); })
                   : status::not_found;
  }
  r.code = r.answer;
  r.at = stage::ended;
}

void rank_thread::probe(const step& s) {
  record& r = facts_of(s);
  outcome seen;
  const auto ask = [&] { return on(s).try_probe(s.peer, {s.tag, s.mask}, seen); };
  r.answer = insist(s, ask);
  while (s.ends == ending::blocking && r.answer == status::not_found && !plan_.harsh()) {
    on(s).poll();
    r.answer = insist(s, ask);
  }
  r.code = r.answer;
  r.peer = seen.peer;
  r.lane = seen.lane;
  r.tag = seen.tag;
  r.bytes = seen.bytes;
  r.at = stage::ended;
}

namespace {

/// The call with the wrong argument. `data` has room for what a right one would move.
status wrong_call(lane& on, const step& s, const rank_memory& memory, std::uint64_t area_bytes,
                  std::span<std::byte> data, int ranks, const completion& c) {
  const auto place = [&](std::uint64_t at) { return memory.at(s.area, s.peer, at); };
  const auto word = [&](std::uint64_t at) { return remote_ptr<std::uint64_t>{place(at)}; };
  static std::uint64_t old;
  std::vector<std::byte> header(max_call_header + 1);
  flag none;
  outcome seen;
  const tag reserved = s.tag | reserved_tag_bit;
  switch (static_cast<mistake>(s.op)) {
    case mistake::send_reserved_tag:
      return on.try_send(s.peer, reserved, data, c);
    case mistake::recv_reserved_tag:
      return on.try_recv(s.peer, reserved, data, c);
    case mistake::probe_reserved_tag:
      return on.try_probe(s.peer, reserved, seen);
    case mistake::send_rank:
      return on.try_send(ranks, s.tag, data, c);
    case mistake::recv_rank:
      return on.try_recv(ranks, s.tag, data, c);
    case mistake::call_rank:
      return on.try_call(-1, called, {}, data, c);
    case mistake::call_header:
      return on.try_call(s.peer, called, header, data, c);
    case mistake::call_handler:
      return on.try_call(s.peer, max_handlers, {}, data, c);
    case mistake::notify_handler:
      return on.try_put_notify(data, place(word_bytes), max_handlers, 0, c);
    case mistake::put_bounds:
      return on.try_put(data, place(area_bytes - data.size() + 1), c);
    case mistake::get_bounds:
      return on.try_get(data, place(area_bytes + s.at), c);
    case mistake::atomic_bounds:
      return on.try_atomic(atomic_op::add, word((area_bytes + 7) / 8 * 8), std::uint64_t{1}, &old,
                           c);
    case mistake::misaligned:
      return on.try_atomic(atomic_op::add, word(4 + 1), std::uint64_t{1}, &old, c);
    case mistake::no_address:
      return on.try_put(data, {}, c);
    case mistake::denied_put:
    case mistake::withdrawn_put:
      return on.try_put(data, place(word_bytes), c);
    case mistake::denied_get:
    case mistake::withdrawn_get:
      return on.try_get(data, place(word_bytes), c);
    case mistake::denied_atomic:
      return on.try_atomic(atomic_op::add, word(0), std::uint64_t{1}, &old, c);
    case mistake::cancel_nothing:
      return on.try_cancel(none);
  }
  return status::done;
}

}  // namespace

void rank_thread::err(const step& s) {
  slot& made = slots_.emplace_back();
  made.what = &s;
  made.facts = &facts_of(s);
  made.data.resize(16);
  const area* a = plan_.find_area(s.area);
  take(made, insist(s, [&] {
         return wrong_call(on(s), s, memory_, a != nullptr ? a->bytes : 0, made.data, plan_.ranks,
                           made.ended_flag);
       }));
}

void rank_thread::harm(const step& s) {
  rank_record& mine = facts_.of_rank(world_.rank());
  if (s.what == verb::stop && s.bytes != 0) {
    mine.wake_at = now_ns() + s.bytes * 1000;
  } else {
    mine.gone = true;
  }
  facts_of(s).at = stage::ended;
  kill(getpid(), s.what == verb::kill ? SIGKILL : SIGSTOP);
}

void rank_thread::reopen(const step& s) {
  std::unique_ptr<lane>& mine = lanes_.at(s.lane);
  mine.reset();
  mine = std::make_unique<lane>(world_, lane_options{.number = s.lane, .exclusive = true});
  facts_of(s).at = stage::ended;
}

// --- ends ---------------------------------------------------------------------------------------

void rank_thread::settle() {
  auto& doing = facts_.of_rank(world_.rank()).doing[static_cast<std::size_t>(number_)];
  for (slot& s : slots_) {
    if (s.facts->at == stage::ended) continue;
    doing = s.what->id;
    if (s.what->ends != ending::counter) await(s);
  }
  if (!by_counter_.empty()) {
    doing = by_counter_[0]->what->id;
    (void)on(*by_counter_[0]->what).wait(*counted_, by_counter_.size());
    finish_counted();
  }
  doing = -1;
}

void rank_thread::finish_counted() {
  for (slot* s : by_counter_) {
    if (s->facts->at == stage::ended) continue;
    s->facts->ends = counted_->count() == by_counter_.size() ? 1 : 2;
    end(*s, {.code = counted_->first_failure()});
  }
}

void rank_thread::await(slot& s) {
  if (s.what->what == verb::recv && (plan_.harsh() || s.what->ends != ending::blocking))
    await_message(s);
  else if (s.what->ends == ending::flag)
    (void)on(*s.what).wait(s.ended_flag);
  while (!has_ended(s)) {
    if (on(*s.what).poll() == 0) std::this_thread::sleep_for(20us);
  }
  finish(s);
}

void rank_thread::finish(slot& s) {
  if (s.facts->at == stage::ended) return;
  s.facts->ends.fetch_add(s.what->ends == ending::flag ? 1 : 0);
  end(s, s.what->ends == ending::flag ? s.ended_flag.result() : s.how);
}

/// Tells the board of what has ended meanwhile: others may wait for it.
void rank_thread::sweep() {
  for (slot& s : slots_)
    if (s.facts->at == stage::posted && s.what->ends != ending::counter && has_ended(s)) finish(s);
  if (!by_counter_.empty() && counted_->count() >= by_counter_.size()) finish_counted();
}

/// A receive for which no message is left is taken back.
void rank_thread::await_message(slot& s) {
  flag nothing;
  while (!has_ended(s)) {
    sweep();
    const bool by_flag = s.what->ends == ending::flag;
    (void)on(*s.what).wait_for(by_flag ? s.ended_flag : nothing, 2ms);
    if (!has_ended(s) && s.what->ends != ending::coroutine && will_never_match(*s.what))
      take_back(s);
  }
}

void rank_thread::take_back(slot& s) {
  const completion which = completion_of(s);
  status answer = status::busy_lane;
  while (is_busy(answer)) {
    answer = on(*s.what).try_cancel(which);
    if (is_busy(answer)) on(*s.what).poll();
  }
}

bool rank_thread::has_ended(slot& s) {
  if (s.what->ends == ending::queue) drain_queue();
  return s.what->ends == ending::flag ? s.ended_flag.ready() : s.ended.load();
}

void rank_thread::drain_queue() {
  completion_queue::entry e;
  while (queue_->try_pop(e)) deliver(reinterpret_cast<void*>(e.cookie), 0, e.what);
}

bool rank_thread::will_never_match(const step& receive) const {
  const auto of = std::find_if(groups_.begin(), groups_.end(), [&](const group& g) {
    return g.phase == receive.phase && g.lane == receive.lane && g.to == receive.rank &&
           g.number == group_of(receive.tag);
  });
  return nothing_is_left(plan_, facts_, *of);
}

}  // namespace heddle::fuzz
