// SPDX-License-Identifier: BSD-3-Clause
// answers_test.cpp - every row of the table of answers over every way: what the try_ form and the
// blocking one answer, and that nothing has happened.
//
// Two ranks are two threads of this process. The one of rank 0 does everything, also with the lane
// of rank 1, whose own thread only keeps that lane moving where nobody else does.
#include "contract/answers.h"

#include <gtest/gtest.h>
#include <heddle/heddle.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <deque>
#include <fstream>
#include <functional>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <thread>

#include "contract/answers_ask.h"
#include "contract/answers_target.h"
#include "stress/ways.h"

namespace heddle::test {
namespace {

using namespace std::chrono_literals;

constexpr std::uint64_t ours = 4, before = 5, sent = 6;  // patterns
constexpr std::size_t buffer_bytes = 2 * region_bytes;
constexpr auto long_enough = 30s;  // what has not ended by then never will

// --- questions ---------------------------------------------------------------------------------

/// Completions of one test, each of which is to be delivered a known number of times.
class endings {
 public:
  counter& next() { return all_.emplace_back().ended; }
  void expect_last() { all_.back().expected = 1; }
  /// Once nothing can end any more.
  void check() const {
    for (const one& e : all_) EXPECT_EQ(e.ended.count(), e.expected);
  }

 private:
  struct one {
    counter ended;
    std::uint64_t expected = 0;
  };
  std::deque<one> all_;
};

/// The peer's messages for those rows that want one.
class sender {
 public:
  explicit sender(lane& on) : on_(on) {}
  void send(std::size_t bytes) {
    messages_.push_back(pattern(bytes, sent));
    status s = on_.try_send(0, 7, messages_.back(), ended_);
    for (; is_busy(s); s = on_.try_send(0, 7, messages_.back(), ended_)) on_.poll();
    EXPECT_TRUE(accepted(s)) << name_of(s);
    posted_ += s == status::posted ? 1 : 0;
  }
  bool all_end() { return on_.wait_for(ended_, posted_, long_enough); }

 private:
  lane& on_;
  std::deque<std::vector<std::byte>> messages_;
  counter ended_;
  std::uint64_t posted_ = 0;
};

/// Asks what a row says, on the thread of rank 0, and looks at what has happened.
class inquiry {
 public:
  inquiry(side& here, side& there, endings& all)
      : here_(here), there_(there), peer_(there.on), endings_(all) {
    fill_pattern(from_, ours);
  }

  /// About memory that is there already, or about none.
  void ask(const answer_row& row, action asked, remote_address at) {
    if (row.when == state::in_a_forks_child) return ask_in_child(row, asked, at);
    ask_both(row, asked, at);
  }
  void ask(const answer_row& row) {
    for (const action asked : row.asked) {
      if (asked <= action::add) {
        ask_about_memory(row, asked);
      } else {
        ask(row, asked, {});
      }
      if (testing::Test::HasFailure()) {
        ADD_FAILURE() << "row " << row.name << ", action " << static_cast<int>(asked);
        return;
      }
    }
  }

 private:
  /// What this thread and a rank's engine have done to its memory both have seen from here on, also
  /// for thread sanitizer, which cannot follow what is told through memory that is mapped twice.
  static void meet_engine(side& of) {
    outcome seen;
    while (is_busy(of.on.try_probe(0, any_tag, seen))) of.on.poll();
  }
  void ask_about_memory(const answer_row& row, action asked) {
    for (const auto kind : {memory_kind::exposed, memory_kind::allocated, memory_kind::symmetric})
      for (side* const owner : {&there_, &here_}) {
        if (!exists(row, kind, here_, *owner)) continue;
        const target t(row, kind, here_, *owner);
        meet_engine(*owner);
        if (!t.refused()) ask(row, asked, t.at());
        meet_engine(*owner);
        if (row.expected != status::done) {
          EXPECT_TRUE(t.untouched()) << "the memory was written";
        }
        if (testing::Test::HasFailure())
          ADD_FAILURE() << "memory kind " << static_cast<int>(kind) << " of rank "
                        << owner->in.rank();
      }
  }

  void ask_in_child(const answer_row& row, action asked, remote_address at) {
    const pid_t child = fork();
    if (child == 0) {
      ask_both(row, asked, at);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    int how = -1;
    waitpid(child, &how, 0);
    EXPECT_EQ(how, 0) << "in the child";
  }
  void ask_both(const answer_row& row, action asked, remote_address at) {
    const forms& f = forms_of(asked);
    const int handled_before = handled_calls();
    const question q{row, here_.on, at, from_, into_, {}};
    if (f.post != nullptr) look_at(q, [&](const question& now) { return answer(now, f.post); });
    // A blocking receive cannot be taken back, nor can this thread send to it.
    if (f.wait != nullptr && row.when != state::taken_back && row.when != state::message_comes)
      look_at(q, f.wait);
    if (row.expected != status::done) {
      EXPECT_EQ(handled_calls(), handled_before) << "a handler ran";
    }
  }

  template <class F>
  void look_at(question q, F&& answer) {
    fill_pattern(into_, before);
    prepare(q);
    EXPECT_EQ(name_of(answer(q)), name_of(q.row.expected));
    EXPECT_TRUE(is_pattern(from_, ours)) << "the source was written";
    if (q.row.expected != status::done) expect_only_beginning(q.row);
    tidy_up(q.row);
  }
  void expect_only_beginning(const answer_row& row) const {
    const std::size_t written = row.expected == status::truncated ? row.bytes : 0;
    EXPECT_TRUE(is_pattern(std::span(into_).first(written), sent)) << "not the message's beginning";
    for (std::size_t i = written; i < into_.size(); ++i)
      if (into_[i] != pattern_byte(before, i))
        return ADD_FAILURE() << "byte " << i << " is written";
  }

  /// Of the try_ form: at once, or by its completion.
  status answer(const question& q, status (*post)(const question&, completion)) {
    counter& ended = endings_.next();
    status s = post(q, ended);
    for (; is_busy(s); s = post(q, ended)) q.on.poll();
    if (s != status::posted) return s;
    endings_.expect_last();
    if (q.row.when == state::message_comes) peer_.send(q.row.message);
    if (q.row.when == state::taken_back) take_back(q.on, ended);
    if (q.on.wait_for(ended, 1, long_enough)) return ended.first_failure();
    ADD_FAILURE() << "posted, and never ended";
    return s;
  }
  static void take_back(lane& on, counter& which) {
    status s = on.try_cancel(which);
    while (is_busy(s)) s = on.try_cancel(which);
    EXPECT_EQ(s, status::done);
  }

  void prepare(question& q) {
    counter& ended = endings_.next();
    q.which = ended;
    if (q.row.when != state::message_waits && q.row.when != state::has_ended) return;
    peer_.send(q.row.message);
    outcome seen;
    while (q.on.try_probe(1, any_tag, seen) != status::done) q.on.poll();
    if (q.row.when != state::has_ended) return;
    take(q.on, ended);
    endings_.expect_last();
  }
  /// Receives a short message.
  static void take(lane& on, counter& ended) {
    std::array<std::byte, 8> word;
    while (is_busy(on.try_recv(1, any_tag, word, ended))) on.poll();
    EXPECT_EQ(on.wait(ended, 1), status::done);
  }
  void tidy_up(const answer_row& row) {
    counter ended;
    if (row.when == state::message_waits && row.expected != status::truncated)
      take(here_.on, ended);
    EXPECT_TRUE(peer_.all_end()) << "what the peer sent has not ended";
  }

  side &here_, &there_;
  sender peer_;
  endings& endings_;
  alignas(8) std::array<std::byte, buffer_bytes> from_{}, into_{};
};

// --- tests -------------------------------------------------------------------------------------

class Answers : public Stress {
 protected:
  /// Asks all rows with this status, one after the other. Afterwards everything works as before.
  static void ask_all(status expected) {
    endings all;
    std::atomic<side*> there = nullptr;
    std::atomic<bool> over = false;
    run_ranks(2, config(), [&](world& w) {
      side mine(w);
      if (w.rank() == 1) there = &mine;
      w.barrier();
      if (w.rank() == 0) {
        const at_end raise(over);
        inquiry asking(mine, *there, all);
        ask_rows(asking, expected);
      }
      while (!over) keep_moving(mine.on);
      EXPECT_EQ(barrier(mine.on), status::done);
      w.barrier();
    });
    all.check();
  }

 private:
  /// The other rank is not to wait for ever for one that has thrown.
  struct at_end {
    explicit at_end(std::atomic<bool>& f) : flag_(f) {}
    ~at_end() { flag_ = true; }
    at_end(const at_end&) = delete;
    at_end& operator=(const at_end&) = delete;
    std::atomic<bool>& flag_;
  };
  static void ask_rows(inquiry& asking, status expected) {
    int rows = 0;
    for (const answer_row& row : answer_table()) {
      const bool alone = row.when == state::world_ends || row.when == state::world_has_ended;
      if (row.expected != expected || alone || HasFailure() || !can_be_asked(row)) continue;
      asking.ask(row);
      ++rows;
    }
    EXPECT_GT(rows, 0);
    if (!HasFailure()) asking.ask(answer_table().front());
  }
  static void keep_moving(lane& on) {
    if (!has_executors()) on.poll();
    std::this_thread::sleep_for(50us);
  }
};

INSTANTIATE_TEST_SUITE_P(, Answers, testing::ValuesIn(all_ways()),
                         [](const auto& tested) { return tested.param.name; });

TEST_P(Answers, DoneWhereAllIsRight) {
  ask_all(status::done);
}
TEST_P(Answers, OutOfBoundsAndNothingMoves) {
  ask_all(status::out_of_bounds);
}
TEST_P(Answers, MisalignedAndNothingMoves) {
  ask_all(status::misaligned);
}
TEST_P(Answers, DeniedAndNothingMoves) {
  ask_all(status::denied);
}
TEST_P(Answers, WithdrawnAndNothingMoves) {
  ask_all(status::withdrawn);
}
TEST_P(Answers, InvalidAndNothingMoves) {
  ask_all(status::invalid);
}
TEST_P(Answers, TruncatedAndNoMoreThanTheBeginningIsWritten) {
  ask_all(status::truncated);
}
TEST_P(Answers, NotFoundAndNothingIsTaken) {
  ask_all(status::not_found);
}
TEST_P(Answers, CanceledAndNothingIsWritten) {
  ask_all(status::canceled);
}
TEST_P(Answers, TimedOutAndNothingIsTaken) {
  ask_all(status::timed_out);
}
TEST_P(Answers, ClosedInTheChildOfAFork) {
  ask_all(status::closed);
}

const answer_row& row_with(state when) {
  return *std::ranges::find(answer_table(), when, &answer_row::when);
}

TEST_P(Answers, ClosedForAReceiveWhoseWorldEnds) {
  const answer_row& row = row_with(state::world_ends);
  counter ended;
  auto into = pattern(row.bytes, before);
  // From itself: another rank may have left before, and then the receive ends with peer_lost.
  run_ranks(1, config(), [&](world& w) {
    lane on(w);
    EXPECT_EQ(on.try_recv(0, row.matching, into, ended), status::posted);
  });
  EXPECT_EQ(ended.count(), 1u);
  EXPECT_EQ(ended.first_failure(), row.expected);
  EXPECT_TRUE(is_pattern(into, before));
}

/// Two worlds and what they have to offer, which outlives them.
struct ended_job {
  explicit ended_job(const settings& config) {
    auto sessions = bootstrap::local_group(2);
    on_both([&](std::size_t r) {
      worlds[r] = std::make_unique<world>(engine::make_world(std::move(sessions[r]), config));
      sides[r] = std::make_unique<side>(*worlds[r]);
      worlds[r]->barrier();
    });
  }
  void end() {
    on_both([&](std::size_t r) { worlds[r].reset(); });
  }
  static void on_both(const std::function<void(std::size_t)>& f) {
    std::thread other(f, 1);
    f(0);
    other.join();
  }
  std::array<std::unique_ptr<world>, 2> worlds;
  std::array<std::unique_ptr<side>, 2> sides;
};

TEST_P(Answers, ClosedOnALaneThatOutlivesItsWorld) {
  const answer_row& row = row_with(state::world_has_ended);
  endings all;
  {
    ended_job job(config());
    const target t(row, memory_kind::exposed, *job.sides[0], *job.sides[1]);
    job.end();
    inquiry asking(*job.sides[0], *job.sides[1], all);
    for (const action asked : row.asked) asking.ask(row, asked, t.at());
    EXPECT_TRUE(t.untouched());
  }
  all.check();
}

// --- the documentation -------------------------------------------------------------------------

/// The guide's list of rows: "status: row" for each.
std::set<std::string> rows_of_the_guide() {
  std::ifstream file(HEDDLE_GUIDE "/errors.md");
  std::set<std::string> found;
  bool listed = false;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("## ")) listed = line == "## Which mistake gets which answer";
    // "| `status` | asked for | `row` |"
    const auto first = line.find('`', 3), last = line.rfind('`'),
               before_last = line.rfind('`', last - 1);
    if (listed && line.starts_with("| `") && line.ends_with("` |"))
      found.insert(line.substr(3, first - 3) + ": " +
                   line.substr(before_last + 1, last - before_last - 1));
  }
  return found;
}

TEST(AnswersOfTheGuide, AreThoseOfTheTable) {
  std::set<std::string> tested;
  for (const answer_row& row : answer_table())
    tested.insert(std::string(name_of(row.expected)) + ": " + std::string(row.name));
  EXPECT_EQ(rows_of_the_guide(), tested);
  EXPECT_EQ(tested.size(), answer_table().size()) << "two rows have one name";
}

}  // namespace
}  // namespace heddle::test
