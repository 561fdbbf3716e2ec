// SPDX-License-Identifier: BSD-3-Clause
// coroutine_test.cpp - tasks and awaited operations, on a lane that answers what the test says.
#include <gtest/gtest.h>
#include <heddle/coroutine.h>

#include <atomic>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

namespace heddle {
namespace {

/// Answers try_get as told; keeps what is to be delivered, or delivers it inside the call.
struct scripted_lane {
  std::deque<status> answers = {};  ///< then `posted` for ever
  bool inside = false;              ///< deliver before the call returns
  std::vector<completion> pending = {};
  std::vector<completion> waiting_for_room = {};
  int posts = 0;

  status try_get(std::span<std::byte>, remote_address, completion c) noexcept {
    ++posts;
    status answer = status::posted;
    if (!answers.empty()) {
      answer = answers.front();
      answers.pop_front();
    }
    if (answer == status::posted) hand_over(pending, c);
    return answer;
  }
  status try_recv(rank, tag_match, std::span<std::byte>, completion c) noexcept {
    hand_over(pending, c);
    return status::posted;
  }
  void when_ready(completion c) noexcept { hand_over(waiting_for_room, c); }

  void hand_over(std::vector<completion>& to, completion c) noexcept {
    if (inside) {
      c({});
    } else {
      to.push_back(c);
    }
  }
  static void deliver(std::vector<completion>& from, const outcome& what = {}) {
    std::vector<completion> all;
    all.swap(from);
    for (const completion& c : all) c(what);
  }
};
using scripted = basic_async_lane<scripted_lane>;

struct end_record {
  int times = 0;
  outcome what;
  operator completion() noexcept {  // NOLINT: adapters convert
    return {[](void* owner, std::uint64_t, const outcome& ended) noexcept {
              auto& self = *static_cast<end_record*>(owner);
              ++self.times;
              self.what = ended;
            },
            this, 0};
  }
};

task<status> get_once(scripted on) {
  co_return co_await on.get(std::span<std::byte>{}, remote_address{});
}

task<status> get_many(scripted on, int times) {
  for (int i = 0; i < times; ++i) {
    const status ended = co_await on.get(std::span<std::byte>{}, remote_address{});
    if (ended != status::done) co_return ended;
  }
  co_return status::done;
}

TEST(AwaitedOperation, AnsweredDoneDoesNotSuspend) {
  scripted_lane lane{.answers = {status::done}};
  end_record end;
  spawn(get_once(scripted(lane)), end);
  EXPECT_EQ(end.times, 1);
  EXPECT_EQ(end.what.code, status::done);
}

TEST(AwaitedOperation, AnsweredPostedGoesOnFromItsCompletion) {
  scripted_lane lane;
  end_record end;
  spawn(get_once(scripted(lane)), end);
  EXPECT_EQ(end.times, 0);
  scripted_lane::deliver(lane.pending, {.code = status::withdrawn});
  EXPECT_EQ(end.times, 1);
  EXPECT_EQ(end.what.code, status::withdrawn);
}

TEST(AwaitedOperation, AnsweredBusyIsPostedAgainOnlyWhenThereIsRoom) {
  scripted_lane lane{.answers = {status::busy_queue, status::busy_records}};
  end_record end;
  spawn(get_once(scripted(lane)), end);
  EXPECT_EQ(lane.posts, 1);
  scripted_lane::deliver(lane.waiting_for_room);
  EXPECT_EQ(lane.posts, 2);
  scripted_lane::deliver(lane.waiting_for_room);
  EXPECT_EQ(lane.posts, 3);
  EXPECT_EQ(end.times, 0);
  scripted_lane::deliver(lane.pending);
  EXPECT_EQ(end.times, 1);
}

TEST(AwaitedOperation, RefusedGivesTheReasonEvenAfterBusy) {
  scripted_lane lane{.answers = {status::busy_queue, status::denied}};
  end_record end;
  spawn(get_once(scripted(lane)), end);
  scripted_lane::deliver(lane.waiting_for_room);
  EXPECT_EQ(end.times, 1);
  EXPECT_EQ(end.what.code, status::denied);
}

task<outcome> receive(scripted on) {
  co_return co_await on.recv(any_source, any_tag, {});
}

TEST(AwaitedOperation, ReceiveGivesSourceTagAndLength) {
  scripted_lane lane;
  end_record end;
  spawn(receive(scripted(lane)), end);
  scripted_lane::deliver(lane.pending,
                         {.code = status::truncated, .lane = 5, .peer = 3, .tag = 77, .bytes = 12});
  EXPECT_EQ(end.what.code, status::truncated);
  EXPECT_EQ(end.what.lane, 5);
  EXPECT_EQ(end.what.peer, 3);
  EXPECT_EQ(end.what.tag, 77u);
  EXPECT_EQ(end.what.bytes, 12u);
}

constexpr int a_million = 1'000'000;

TEST(Stack, DoesNotGrowOverAMillionOperationsDoneAtOnce) {
  scripted_lane lane{.answers = std::deque<status>(a_million, status::done)};
  end_record end;
  spawn(get_many(scripted(lane), a_million), end);
  EXPECT_EQ(end.times, 1);
}

TEST(Stack, DoesNotGrowOverAMillionCompletionsDeliveredInsideThePost) {
  scripted_lane lane{.inside = true};
  end_record end;
  spawn(get_many(scripted(lane), a_million), end);
  EXPECT_EQ(end.times, 1);
  EXPECT_EQ(lane.posts, a_million);
}

TEST(Stack, DoesNotGrowWhenRoomIsReportedInsideTheCall) {
  scripted_lane lane{.answers = std::deque<status>(a_million, status::busy_queue), .inside = true};
  end_record end;
  spawn(get_once(scripted(lane)), end);
  EXPECT_EQ(end.times, 1);
  EXPECT_EQ(lane.posts, a_million + 1);
}

task<int> one_more(int than) {
  co_return than + 1;
}

task<> count_by_tasks(int to, int& reached) {
  while (reached < to) reached = co_await one_more(reached);
}

TEST(Stack, DoesNotGrowOverAMillionAwaitedTasks) {
  int reached = 0;
  spawn(count_by_tasks(a_million, reached));
  EXPECT_EQ(reached, a_million);
}

task<int> depth_of(int levels) {
  if (levels == 0) co_return 0;
  co_return 1 + co_await depth_of(levels - 1);
}

task<> measure_depth(int levels, int& depth) {
  depth = co_await depth_of(levels);
}

TEST(Stack, DoesNotGrowWithTasksAwaitingTasks) {
  int depth = 0;
  spawn(measure_depth(200'000, depth));
  EXPECT_EQ(depth, 200'000);
}

TEST(Task, DoesNothingBeforeItIsStarted) {
  scripted_lane lane;
  { const auto unused = get_once(scripted(lane)); }
  EXPECT_EQ(lane.posts, 0);
}

task<status> starts_another(scripted on, end_record& inner_end, bool& inner_had_posted) {
  spawn(get_once(on), inner_end);
  inner_had_posted = on.base().posts == 1;
  co_return status::done;
}

TEST(Task, SpawnedByATaskRunsToItsFirstWaitAtOnce) {
  scripted_lane lane;
  end_record outer, inner;
  bool inner_had_posted = false;
  spawn(starts_another(scripted(lane), inner, inner_had_posted), outer);
  EXPECT_TRUE(inner_had_posted);
  EXPECT_EQ(outer.times, 1);
  EXPECT_EQ(inner.times, 0);
  scripted_lane::deliver(lane.pending);
  EXPECT_EQ(inner.times, 1);
}

struct counts_destruction {
  int& destroyed;
  ~counts_destruction() { ++destroyed; }
};

task<status> holds(scripted on, int& destroyed) {
  const counts_destruction held{destroyed};
  co_return co_await on.get(std::span<std::byte>{}, remote_address{});
}

TEST(Task, SpawnedFreesItsFrameBeforeItsCompletionIsDelivered) {
  scripted_lane lane;
  int destroyed = 0;
  int destroyed_before_end = -1;
  callback end([&](const outcome&) { destroyed_before_end = destroyed; });
  spawn(holds(scripted(lane), destroyed), end);
  EXPECT_EQ(destroyed, 0);
  scripted_lane::deliver(lane.pending);
  EXPECT_EQ(destroyed_before_end, 1);
}

task<status> get_two(scripted on) {
  const auto [first, second] =
      co_await when_all(on.get(std::span<std::byte>{}, remote_address{}), on.recv(0, 0, {}));
  co_return first != status::done ? first : second.code;
}

TEST(WhenAll, PostsEverythingBeforeItWaits) {
  scripted_lane lane;
  end_record end;
  spawn(get_two(scripted(lane)), end);
  ASSERT_EQ(lane.pending.size(), 2u);
  lane.pending.back()({});
  EXPECT_EQ(end.times, 0);
  lane.pending.front()({.code = status::peer_lost});
  EXPECT_EQ(end.times, 1);
  EXPECT_EQ(end.what.code, status::peer_lost);
}

TEST(WhenAll, GoesOnWhenTheLastOneIsPostedAgainAndDoneAtOnce) {
  scripted_lane lane{.answers = {status::busy_queue, status::done}};
  end_record end;
  spawn(get_two(scripted(lane)), end);
  scripted_lane::deliver(lane.pending);  // the receive
  EXPECT_EQ(end.times, 0);
  scripted_lane::deliver(lane.waiting_for_room);
  EXPECT_EQ(end.times, 1);
}

task<status> run_all(std::span<task<status>> work) {
  co_return co_await when_all(work);
}

TEST(WhenAll, OfTasksGivesTheFirstFailureInTheirOrder) {
  scripted_lane lane;
  std::vector<task<status>> work;
  for (int i = 0; i < 3; ++i) work.push_back(get_once(scripted(lane)));
  end_record end;
  spawn(run_all(work), end);
  ASSERT_EQ(lane.pending.size(), 3u);
  lane.pending[2]({.code = status::denied});
  lane.pending[0]({});
  EXPECT_EQ(end.times, 0);
  lane.pending[1]({.code = status::withdrawn});
  EXPECT_EQ(end.times, 1);
  EXPECT_EQ(end.what.code, status::withdrawn);
}

TEST(WhenAll, OfNoTasksIsDoneAtOnce) {
  end_record end;
  spawn(run_all({}), end);
  EXPECT_EQ(end.times, 1);
}

/// Every completion is delivered by one of two other threads, as soon as it gets to it.
class threaded_lane {
 public:
  threaded_lane() {
    for (auto& each : threads_) each = std::thread([this] { work(); });
  }
  ~threaded_lane() {
    {
      const std::lock_guard lock(mutex_);
      closing_ = true;
    }
    changed_.notify_all();
    for (auto& each : threads_) each.join();
  }
  status try_get(std::span<std::byte>, remote_address, completion c) noexcept {
    {
      const std::lock_guard lock(mutex_);
      if (++posts_ % 7 == 0) return status::busy_records;
      pending_.push_back(c);
    }
    changed_.notify_one();
    return status::posted;
  }
  void when_ready(completion c) noexcept {
    {
      const std::lock_guard lock(mutex_);
      pending_.push_back(c);
    }
    changed_.notify_one();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return closing_ || !pending_.empty(); });
      if (pending_.empty()) return;
      const completion c = pending_.front();
      pending_.pop_front();
      lock.unlock();
      c({});
      lock.lock();
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<completion> pending_;
  unsigned posts_ = 0;
  bool closing_ = false;
  std::thread threads_[2];
};

task<status> hop_between_threads(basic_async_lane<threaded_lane> on, int times) {
  std::uint64_t a = 0;
  std::uint64_t b = 0;
  for (int i = 0; i < times; ++i) {
    const auto [first, second] = co_await when_all(on.get(a, remote_ptr<std::uint64_t>{}),
                                                   on.get(b, remote_ptr<std::uint64_t>{}));
    if (first != status::done || second != status::done) co_return status::invalid;
    if (co_await on.get(a, remote_ptr<std::uint64_t>{}) != status::done) co_return status::invalid;
  }
  co_return status::done;
}

TEST(Threads, CompletionsThatOvertakeTheSuspensionDoNoHarm) {
  constexpr int tasks = 8;
  std::atomic<int> ended = 0;
  std::atomic<int> failed = 0;
  callback end([&](const outcome& what) {
    if (what.code != status::done) ++failed;
    ++ended;
    ended.notify_one();
  });
  {
    threaded_lane lane;
    for (int i = 0; i < tasks; ++i) {
      spawn(hop_between_threads(basic_async_lane(lane), 5'000), end);
    }
    for (int seen = ended; seen < tasks; seen = ended) ended.wait(seen);
  }
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace heddle
