// SPDX-License-Identifier: BSD-3-Clause
// answer_test.cpp - two recipes of the guide: an answer from a handler that finds no
// room on the lane (concepts.md), and an operation that is not waited for longer than a limit
// (errors.md).
#include <gtest/gtest.h>
#include <heddle/heddle.h>

#include <atomic>
#include <chrono>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "support/engine_ways.h"

namespace heddle::test {
namespace {

using namespace std::chrono_literals;

class Answers : public Engine {};
INSTANTIATE_TEST_SUITE_P(Ways, Answers, all_ways(), name_of_way);

constexpr handler_id ask_id = 5, answer_id = 6;
constexpr std::uint64_t questions = 20;
constexpr std::size_t answer_bytes = 100'000;
constexpr std::size_t records = 16;

std::atomic<std::uint64_t> made, gone, told_to_wait;

/// The guide's, and it counts.
class answer {
 public:
  answer(lane& by, destination to, std::vector<std::byte> data)
      : by_(by), to_(to), data_(std::move(data)) {
    ++made;
  }
  ~answer() { ++gone; }
  void send() noexcept {
    const status s = by_.try_call(to_, answer_id, {}, data_, {&over, this});
    if (is_busy(s)) ++told_to_wait;
    if (is_busy(s)) return by_.when_ready({&again, this});
    if (s != status::posted) delete this;
  }

 private:
  static void again(void* self, std::uint64_t, const outcome&) noexcept {
    static_cast<answer*>(self)->send();
  }
  static void over(void* self, std::uint64_t, const outcome&) noexcept {
    delete static_cast<answer*>(self);
  }
  lane& by_;
  const destination to_;
  const std::vector<std::byte> data_;
};

void on_question(void* context, lane&, const call_message& m) noexcept {
  auto& answers = *static_cast<lane*>(context);
  (new answer(answers, {m.source, m.lane}, pattern(answer_bytes, 3)))->send();
}

void on_answer(void* context, lane&, const call_message& m) noexcept {
  if (m.payload.size() == answer_bytes && is_pattern(m.payload, 3))
    ++*static_cast<std::atomic<std::uint64_t>*>(context);
}

/// Receives that fill the lane, so that answers find it busy for certain, until they are taken
/// back.
class full_lane {
 public:
  full_lane(lane& l, rank from) : lane_(l) {
    // Until one is refused: while an executor holds the lane they are queued, and a few more taken.
    for (status s = status::posted; s != status::busy_records;) {
      s = l.try_recv(from, 9, {}, ended_.emplace_back());
      if (s != status::posted) ended_.pop_back();
      if (s == status::busy_queue) l.poll();
    }
    EXPECT_GE(ended_.size(), records);
  }
  void make_room() {
    for (flag& f : ended_) {
      while (is_busy(lane_.try_cancel(f))) lane_.poll();
      EXPECT_EQ(lane_.wait(f), status::canceled);
    }
  }

 private:
  lane& lane_;
  std::deque<flag> ended_;
};

settings with_little_room(settings s) {
  s.records = records;
  return s;
}

TEST_P(Answers, ThatFindNoRoomAreSentWhenThereIsSome) {
  made = gone = told_to_wait = 0;
  run_ranks(2, with_little_room(config()), [](world& w) {
    lane starts(w), l(w);
    std::atomic<std::uint64_t> came = 0;
    w.set_handler(ask_id, &on_question, &l);
    w.set_handler(answer_id, &on_answer, &came);
    w.barrier();
    if (w.rank() == 0) {
      full_lane full(l, 1);
      EXPECT_EQ(starts.send(1, 1, {}), status::done);
      while (made < questions) l.poll();
      full.make_room();
      while (gone < questions) l.poll();
    } else {
      EXPECT_EQ(starts.recv(0, 1, {}).code, status::done);
      for (std::uint64_t i = 0; i < questions; ++i)
        EXPECT_EQ(l.call(0, ask_id, {}, {}), status::done);
      while (came < questions) l.poll();
    }
    w.barrier();
  });
  EXPECT_EQ(made, questions);
  EXPECT_EQ(gone, questions);
  EXPECT_GT(told_to_wait, 0u);
}

TEST_P(Answers, ThatStillWaitWhenTheWorldEndsAreLetGo) {
  made = gone = told_to_wait = 0;
  settings few = with_little_room(config());
  few.linger_ms = 50;
  auto sessions = bootstrap::local_group(1, true);
  auto w = std::make_unique<world>(engine::make_world(std::move(sessions[0]), few));
  lane starts(*w), l(*w);
  w->set_handler(ask_id, &on_question, &l);
  const full_lane full(l, 0);
  // Until one is refused: while an executor holds the lane an answer is queued, and goes all the
  // same.
  std::uint64_t asked = 0;
  while (told_to_wait == 0) {
    EXPECT_EQ(starts.call(0, ask_id, {}, {}), status::done);
    for (++asked; told_to_wait == 0 && gone < asked; l.poll()) starts.poll();
  }
  w.reset();
  EXPECT_EQ(made, asked);
  EXPECT_EQ(gone, asked);
}

using std::chrono::steady_clock;

/// The guide's: what an operation uses lives as long as the operation, not as long as the wait.
struct transfer {
  std::vector<std::byte> data;
  flag ended;
};

status send_within(lane& l, std::unique_ptr<transfer> t, steady_clock::duration limit,
                   std::vector<std::unique_ptr<transfer>>& late) {
  const auto until = steady_clock::now() + limit;
  status s = l.try_send(1, 7, t->data, t->ended);
  for (; is_busy(s) && steady_clock::now() < until; s = l.try_send(1, 7, t->data, t->ended))
    l.poll();
  if (s != status::posted) return s;
  if (l.wait_for(t->ended, until - steady_clock::now())) return t->ended.result().code;
  late.push_back(std::move(t));
  return status::timed_out;
}

TEST_P(Answers, ThatAreLateLeaveTheOperationUnderWay) {
  run_ranks(2, config(), [](world& w) {
    lane l(w);
    if (w.rank() == 0) {
      std::vector<std::unique_ptr<transfer>> late;
      auto t = std::make_unique<transfer>();
      t->data = pattern(answer_bytes, 3);
      EXPECT_EQ(send_within(l, std::move(t), 5ms, late), status::timed_out);
      w.barrier();  // only now it is received
      ASSERT_EQ(late.size(), 1u);
      EXPECT_EQ(l.wait(late[0]->ended), status::done);
    } else {
      w.barrier();
      std::vector<std::byte> into(answer_bytes);
      EXPECT_EQ(l.recv(0, 7, into).code, status::done);
      EXPECT_TRUE(is_pattern(into, 3));
    }
    w.barrier();
  });
}

}  // namespace
}  // namespace heddle::test
