// SPDX-License-Identifier: BSD-3-Clause
#include "runner.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <thread>

namespace conformance {
namespace {

/// An outcome as it travels between two processes of this program.
struct told {
  verdict result;
  double seconds;
  char details[4000];
};

std::string why_not(const needs& what, const settings& how) {
  const int most = how.alone ? 1 : how.meet.empty() ? 13 : how.size;
  if (what.danger && how.harmless) return "left out by --harmless";
  if (what.fork && how.alone) return "needs a process of its own, left out by --alone";
  if (what.processes > most) return "needs " + std::to_string(what.processes) + " processes";
  return "";
}

void attempt(const test_case& one, test& scene) {
  try {
    one.run(scene);
  } catch (const test_over&) {
    // Its verdict is known.
  } catch (const std::exception& trouble) {
    scene.broke(trouble.what());
  }
  if (scene.result() != verdict::failed) scene.dismiss();
}

/// Ends the process when a test takes too long: a hang inside the library cannot be left otherwise.
class watchdog {
 public:
  watchdog(const std::vector<outcome>& so_far, double seconds)
      : so_far_(so_far), seconds_(seconds), watching_([this] { watch(); }) {}
  ~watchdog() {
    over_.store(true, std::memory_order_relaxed);  // relaxed: join() orders the rest
    watching_.join();
  }
  void begin(const test_case& one) {
    // Relaxed: the watcher only compares times and prints a constant.
    current_.store(&one, std::memory_order_relaxed);
    began_.store(now_ns(), std::memory_order_relaxed);
  }
  void end() { began_.store(0, std::memory_order_relaxed); }

 private:
  void watch() {
    while (!over_.load(std::memory_order_relaxed)) {
      usleep(50000);
      const std::uint64_t began = began_.load(std::memory_order_relaxed);
      if (began != 0 && has_passed(began + std::uint64_t(seconds_ * 1e9))) give_up();
    }
  }
  [[noreturn]] void give_up() {
    outcome hung{current_.load(std::memory_order_relaxed), verdict::failed, seconds_,
                 "did not end in time; the rest is not run"};
    print(hung);
    print_summary(so_far_);
    _exit(1);
  }

  const std::vector<outcome>& so_far_;
  double seconds_;
  std::atomic<bool> over_{false};
  std::atomic<std::uint64_t> began_{0};
  std::atomic<const test_case*> current_{nullptr};
  std::thread watching_;
};

outcome run_apart(const test_case& one, const settings& how,
                  const std::vector<std::string>& options) {
  std::vector<std::string> arguments = {"--role=test", "--only", std::to_string(one.number)};
  arguments.insert(arguments.end(), options.begin(), options.end());
  process child(arguments, 0);
  told answer{};
  const std::uint64_t began = now_ns();
  const bool ended = way_over_socket(child.ours())->receive(&answer, sizeof answer, how.seconds);
  if (ended && child.wait(10) && child.ended_well()) {
    return {&one, answer.result, answer.seconds, answer.details};
  }
  child.wait(0.5);
  std::string how_it_went = ended ? std::string(answer.details) + "; afterwards: " : "";
  how_it_went += child.ended() ? child.ending() : "did not end in time, " + child.ending();
  const verdict result = one.of == kind::must ? verdict::failed : verdict::differs;
  return {&one, result, double(now_ns() - began) / 1e9, how_it_went};
}

}  // namespace

const std::vector<test_case>& all_tests() {
  static const std::vector<test_case> all = [] {
    std::vector<test_case> tests;
    for (const auto& list :
         {identity_tests(), resource_tests(), stadd_tests(), operation_tests(), atomic_tests(),
          completion_tests(), notice_tests(), backpressure_tests(), order_tests(), error_tests(),
          thread_tests(), barrier_tests(), assumption_tests()}) {
      tests.insert(tests.end(), list.begin(), list.end());
    }
    std::sort(tests.begin(), tests.end(),
              [](const test_case& a, const test_case& b) { return a.number < b.number; });
    return tests;
  }();
  return all;
}

outcome run_here(const test_case& one, const settings& how, const far_ranks& ranks) {
  const std::string reason = why_not(one.what, how);
  if (!reason.empty()) return {&one, verdict::skipped, 0, reason};
  const std::uint64_t began = now_ns();
  test scene(one.of, how, ranks);
  attempt(one, scene);
  return {&one, scene.result(), double(now_ns() - began) / 1e9, scene.details()};
}

std::vector<outcome> run_apart(const std::vector<const test_case*>& chosen, const settings& how,
                               const std::vector<std::string>& options) {
  std::vector<outcome> all;
  for (const test_case* one : chosen) {
    const std::string reason = why_not(one->what, how);
    all.push_back(reason.empty() ? run_apart(*one, how, options)
                                 : outcome{one, verdict::skipped, 0, reason});
    print(all.back());
  }
  return all;
}

int run_for_parent(const test_case& one, const settings& how) {
  const outcome mine = run_here(one, how, {});
  told answer{mine.result, mine.seconds, {}};
  std::strncpy(answer.details, mine.details.c_str(), sizeof answer.details - 1);
  return way_over_socket(process::its_end)->send(&answer, sizeof answer) ? 0 : 1;
}

std::vector<outcome> run_among_ranks(const std::vector<const test_case*>& chosen,
                                     const settings& how) {
  far_ranks ranks(1);
  for (int rank = 1; rank < how.size; ++rank) ranks.push_back(way_through_files(how.meet, 0, rank));
  std::vector<outcome> all;
  watchdog dog(all, how.seconds);
  for (const test_case* one : chosen) {
    dog.begin(*one);
    outcome result = run_here(*one, how, ranks);
    dog.end();
    print(result);
    all.push_back(std::move(result));
  }
  request home;
  home.what = verb::go_home;
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) ranks[rank]->send(&home, sizeof home);
  return all;
}

int serve_rank_0(const settings& how) {
  const std::unique_ptr<way> to_rank_0 = way_through_files(how.meet, how.rank, 0);
  while (servant().serve(*to_rank_0, 10 * how.seconds)) continue;
  return 0;
}

}  // namespace conformance
