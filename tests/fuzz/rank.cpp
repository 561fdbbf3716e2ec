// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/rank.h"

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "fuzz/model.h"
#include "fuzz/placed_calls.h"
#include "fuzz/rank_thread.h"
#include "fuzz/shortage.h"
#include "fuzz/verdict.h"
#include "support/pattern.h"

namespace heddle::fuzz {
namespace {

using namespace std::chrono_literals;

bool is_for_environment(const setting& s) {
  return !s.name.starts_with("ulimit_") && s.name != "second_world";
}

void set_environment(const plan& p, int rank) {
  for (const setting& s : p.settings)
    if (is_for_environment(s) && (s.rank == rank || s.rank == all_ranks))
      setenv(s.name.c_str(), s.value.c_str(), 1);
}

/// In progress mode inline a program has to call Heddle all the time: this thread does.
class pump {
 public:
  pump(world& w, bool wanted) {
    if (wanted)
      thread_ = std::jthread([&w](const std::stop_token& ended) {
        while (!ended.stop_requested())
          if (w.idle_hook() == 0) std::this_thread::sleep_for(50us);
      });
  }

 private:
  std::jthread thread_;
};

void tell_failure(rank_record& mine, const std::exception& e) {
  std::strncpy(mine.failure.data(), e.what(), mine.failure.size() - 1);
  mine.finished = true;
}

class rank_run {
 public:
  rank_run(const plan& p, const board& facts) : plan_(p), facts_(facts) {}

  void run() {
    world_ = std::make_unique<world>();
    me_ = world_->rank();
    memory_ = std::make_unique<rank_memory>(plan_, facts_, *world_);
    world_->on_peer_lost(&rank_run::on_loss, this);
    world_->set_handler(notified, &rank_run::on_notify, this);
    world_->set_handler(called, &rank_run::on_call, this);
    world_->set_header_handler(placed, &placed_calls::arrive, &placed_);
    if (!plan_.harsh()) {
      (void)world_->add_handler(called_name, &rank_run::on_call, this);
      if (!plan_.value_of("second_world", me_).empty()) open_second();
    }
    open_shared();
    {
      const bool pumped = plan_.value_of("HEDDLE_PROGRESS", me_) == "inline";
      const pump always(*world_, pumped);
      const pump beside(second_ != nullptr ? *second_ : *world_, pumped && second_ != nullptr);
      run_threads();
    }
    members_.clear();
    second_lane_.reset();
    second_.reset();
    for (const step& s : plan_.steps)
      if (is_late(s.what) && s.rank == me_) finish(s);
  }

 private:
  // --- phases ------------------------------------------------------------------------------------

  /// Other threads wait for this one: what fails here ends the rank.
  template <class Work>
  void or_end(Work&& work) {
    try {
      work();
    } catch (const std::exception& e) {
      tell_failure(facts_.of_rank(me_), e);
      std::_Exit(1);
    }
  }

  void run_threads() {
    std::barrier<> together(plan_.threads);
    std::vector<std::jthread> others;
    for (int t = 1; t < plan_.threads; ++t)
      others.emplace_back([this, t, &together] { run_thread(t, together); });
    run_thread(0, together);
  }

  /// Thread 0 makes and checks what the phases need while the others wait.
  void run_thread(int number, std::barrier<>& together) {
    or_end([&] { open_exclusive(number); });
    rank_thread thread(plan_, facts_, *world_, lanes_, members_, *memory_, number);
    for (int phase = 0; phase < plan_.phases(); ++phase) {
      together.arrive_and_wait();
      if (number == 0) or_end([&] { begin(phase); });
      together.arrive_and_wait();
      or_end([&] { thread.run(phase); });
      together.arrive_and_wait();
      if (number == 0) or_end([&] { end(phase); });
    }
    together.arrive_and_wait();
    for (const lane_plan& l : plan_.lanes)
      if (l.owner == number) lanes_.at(l.number).reset();
  }

  void begin(int phase) {
    memory_->make(phase);
    let_handlers_read(phase);
    meet(phase);
    memory_->import(phase);
    if (phase != 0) return;
    meet(phase);
    make_groups();
    begin_shortage(plan_, me_);
  }

  void end(int phase) {
    await_calls(phase);
    meet(phase);
    if (second_ != nullptr) talk_in_second(phase);
    memory_->check(phase);
    let_handlers_read(nothing);
    memory_->withdraw(phase);
    meet(phase + 1);
  }

  /// Of a phase that is over, only such notifications come as nobody has waited for: their memory
  /// may be gone, or hold something else.
  void let_handlers_read(int phase) {
    const std::lock_guard nobody_reads(reading_);
    readable_phase_ = phase;
  }

  /// By Heddle's own barriers in turn, unless a rank may be lost.
  void meet(int phase) {
    const auto shared = std::find_if(plan_.lanes.begin(), plan_.lanes.end(),
                                     [](const lane_plan& l) { return l.owner < 0; });
    if (plan_.harsh())
      facts_.meet(me_);
    else if (phase % 2 == 1 && shared != plan_.lanes.end())
      (void)barrier(*lanes_.at(shared->number));
    else
      world_->barrier();
    facts_.moved();
  }

  // --- lanes and handlers -----------------------------------------------------------------------

  void open_shared() {
    for (const lane_plan& l : plan_.lanes) {
      std::unique_ptr<lane>& place = lanes_[l.number];
      if (l.owner < 0) place = std::make_unique<lane>(*world_, lane_options{.number = l.number});
    }
  }
  void make_groups() {
    for (const lane_plan& l : plan_.lanes)
      if (l.owner < 0 && !plan_.harsh() &&
          split(*lanes_.at(l.number), me_ % 2, -me_, members_[l.number]) != status::done)
        throw error("a lane could not be split");
  }

  /// Handler ids and lanes of the same numbers as in the first world, and other meanings.
  void open_second() {
    second_ = std::make_unique<world>(*world_);
    const auto count = [](void* heard, lane&, const call_message& m) noexcept {
      static_cast<std::atomic<std::size_t>*>(heard)->fetch_add(m.payload.size());
    };
    second_->set_handler(notified, count, &heard_in_second_);
    second_->set_handler(called, count, &heard_in_second_);
    second_lane_ = std::make_unique<lane>(*second_);
    second_->barrier();
  }
  /// Each rank to the next: a call and a message, while the first world's are under way.
  void talk_in_second(int phase) {
    lane& on = *second_lane_;
    const int n = plan_.ranks, next = (me_ + 1) % n, last = (me_ + n - 1) % n;
    const auto size = static_cast<std::size_t>(1 + phase * 7000);
    const auto from = [&](int rank) { return static_cast<std::uint64_t>(phase * 100 + rank); };
    const std::vector<std::byte> data = test::pattern(size, from(me_));
    std::vector<std::byte> into(size);
    flag sent;
    status s = on.try_send(next, 1, data, sent);
    for (; is_busy(s); s = on.try_send(next, 1, data, sent)) on.poll();
    const outcome came = on.recv(last, 1, into);
    if (s == status::posted) s = on.wait(sent);
    const std::size_t before = heard_before_second_;
    const status called_next = on.call(next, called, {}, data);
    heard_before_second_ += size;
    while (heard_in_second_ < before + size) on.poll();
    std::uint64_t sum = static_cast<std::uint64_t>(me_), all = 0;
    const status added = allreduce(on, std::span(&sum, 1), std::span(&all, 1), reduce_op::sum);
    if (s != status::done || came.code != status::done || called_next != status::done ||
        added != status::done || all != static_cast<std::uint64_t>(n * (n - 1) / 2) ||
        into != test::pattern(size, from(last)) || heard_in_second_ != heard_before_second_)
      throw error("the second world does not work, or the first one's messages come to it");
  }

  void open_exclusive(int thread) {
    for (const lane_plan& l : plan_.lanes)
      if (l.owner == thread)
        lanes_.at(l.number) =
            std::make_unique<lane>(*world_, lane_options{.number = l.number, .exclusive = true});
  }

  void hear(int id, bool right) {
    record& r = facts_.of(id, me_);
    r.garbled += right ? 0 : 1;
    r.heard += 1;
    facts_.moved();
  }

  /// A peer that leaves when its part is over is not missed.
  static void on_loss(void* context, rank peer, std::string_view) noexcept {
    const auto& self = *static_cast<rank_run*>(context);
    if (!self.facts_.of_rank(peer).finished) self.facts_.of_rank(self.me_).lost |= 1U << peer;
    self.facts_.moved();
  }

  static void on_notify(void* context, lane&, const call_message& m) noexcept {
    auto& self = *static_cast<rank_run*>(context);
    std::uint64_t value = 0;
    if (m.header.size() == sizeof(value)) std::memcpy(&value, m.header.data(), sizeof(value));
    const step* s = self.plan_.find(static_cast<int>(value));
    if (s == nullptr || s->what != verb::put_notify) std::abort();
    const std::lock_guard reading(self.reading_);
    if (s->phase != self.readable_phase_) return self.hear(s->id, m.source == s->rank);
    const auto data = self.memory_->local(s->area);
    const extent whole{s->at, s->at + s->bytes, s->at, s->id};
    const bool there = !first_wrong({&whole, 1}, data.subspan(s->at, s->bytes), s->at);
    self.hear(s->id, there && m.source == s->rank && m.payload.empty());
  }

  static void on_call(void* context, lane&, const call_message& m) noexcept {
    static_cast<rank_run*>(context)->hear_call(m);
  }
  void hear_call(const call_message& m) {
    const step* s = plan_.find(step_of(m));
    if (s == nullptr || s->what != verb::call) std::abort();
    hear(s->id, is_as_sent(*s, m) && m.source == s->rank && m.lane == s->lane);
  }

  /// A call's end does not tell that its handler has run.
  void await_calls(int phase) {
    for (const step& s : plan_.steps) {
      const bool calls = s.what == verb::call || s.what == verb::put_notify;
      if (s.phase != phase || !calls || s.peer != me_) continue;
      facts_.of_rank(me_).doing[0] = s.id;
      while (!is_settled(s)) std::this_thread::sleep_for(100us);
      facts_.of_rank(me_).doing[0] = -1;
    }
  }
  bool is_settled(const step& s) {
    if (facts_.of(s.id, me_).heard > 0 || facts_.of_rank(s.rank).has_ended()) return true;
    const record& r = facts_.of(s.id, s.rank);
    if (r.at != stage::ended) return false;
    return r.code != status::done || outlook_of(plan_, facts_, s.rank) == prospect::mortal ||
           outlook_of(plan_, facts_, me_) == prospect::mortal;
  }

  // --- after the last phase ---------------------------------------------------------------------

  void finish(const step& s) {
    facts_.of_rank(me_).doing[0] = s.id;
    record& r = facts_.of(s.id, me_);
    r.at = stage::begun;
    if (s.what == verb::end_lane) lanes_.erase(s.lane);
    if (s.what == verb::end_area) memory_->end(s.area);
    if (s.what == verb::end_world) world_.reset();
    if (s.what == verb::use) use(s, r);
    r.at = stage::ended;
    facts_.moved();
  }

  void use(const step& s, record& r) {
    const auto found = lanes_.find(s.lane);
    if (found == lanes_.end() || found->second == nullptr) return void(r.code = status::closed);
    lane& on = *found->second;
    flag late;
    r.answer = r.code = use(on, s, late);
    if (r.answer != status::posted) return;
    if (on.wait_for(late, 5s)) r.code = late.result().code;
    if (r.code == status::posted) std::_Exit(3);  // the operation still refers to the flag
  }

  status use(lane& on, const step& s, flag& late) {
    static std::uint64_t word;
    static std::array<std::byte, 64> data;
    outcome seen;
    const remote_address at = memory_->at(s.area, s.peer, word_bytes);
    switch (static_cast<late_use>(s.op)) {
      case late_use::send:
        return on.try_send(s.peer, 1, data, late);
      case late_use::recv:
        return on.try_recv(s.peer, 1, data, late);
      case late_use::probe:
        return on.try_probe(s.peer, 1, seen);
      case late_use::call:
        return on.try_call(s.peer, called, {}, {}, late);
      case late_use::put:
        return on.try_put(data, at, late);
      case late_use::get:
        return on.try_get(data, at, late);
      case late_use::atomic:
        return on.try_atomic(atomic_op::add, remote_ptr<std::uint64_t>{{at.target, 0}},
                             std::uint64_t{0}, &word, late);
      case late_use::poll:
        on.poll();
        return status::closed;
      case late_use::flush:
        return on.flush();
      case late_use::barrier:
        return barrier(on);
    }
    return status::closed;
  }

  const plan& plan_;
  const board& facts_;
  int me_ = 0;
  // Above the world, until whose end handlers run.
  std::mutex reading_;  // held while a handler reads memory_
  static constexpr int nothing = -1;
  int readable_phase_ = nothing;  // under reading_
  std::atomic<std::size_t> heard_in_second_{0};
  std::size_t heard_before_second_ = 0;
  placed_calls placed_{[this](const call_message& m) { hear_call(m); },
                       [this](int number) -> lane& { return *lanes_.at(number); }};
  std::unique_ptr<world> world_, second_;
  std::unique_ptr<rank_memory> memory_;
  lane_table lanes_;
  group_table members_;
  std::unique_ptr<lane> second_lane_;
};

int rank_here() {
  const char* const text = std::getenv("HEDDLE_RANK");
  return text == nullptr ? 0 : std::atoi(text);
}

}  // namespace

int run_rank(const plan& p, const board& facts) {
  rank_record& mine = facts.of_rank(rank_here());
  for (auto& step_id : mine.doing) step_id = -1;
  mine.pid = getpid();
  set_environment(p, rank_here());
  try {
    rank_run(p, facts).run();
    mine.finished = true;
    facts.moved();
    return 0;
  } catch (const std::exception& e) {
    tell_failure(mine, e);
    return 1;
  }
}

}  // namespace heddle::fuzz
