// SPDX-License-Identifier: BSD-3-Clause
#include "model/explorer.h"

#include <setjmp.h>
#include <ucontext.h>

#include <array>
#include <cstddef>

namespace heddle::model {
namespace {

/// Far more than any program here takes.
constexpr int most_steps = 10'000;

constexpr std::size_t stack_bytes = 64 * 1024;

struct fiber {
  thread_body body;
  jmp_buf at;                   // where it goes on, once it has begun
  std::function<bool()> ready;  // set: waits for it
  bool begun = false, ended = false;

  [[nodiscard]] bool runnable() const { return !ended && (!ready || ready()); }
};

/// One place where there was a choice: the threads that could run, and which one did.
struct choice {
  std::vector<std::size_t> candidates;
  std::size_t taken = 0;
};

/// One run after another of the same program: each repeats the choices of the one before up to the
/// last that has an alternative left, and takes that.
class scheduler {
 public:
  explicit scheduler(int preemptions) : preemptions_(preemptions) {}

  /// What went wrong: some thread waits or runs for ever; or nothing.
  std::string run(std::vector<thread_body> bodies) {
    fibers_.clear();
    for (auto& body : bodies) add(std::move(body));
    depth_ = 0;
    left_ = preemptions_;
    current_ = none;
    for (int steps = 0; pick(); ++steps) {
      if (steps == most_steps) return "a thread runs for ever";
      fibers_[current_]->ready = nullptr;
      let_run(current_);
    }
    for (const auto& f : fibers_)
      if (!f->ended) return "every thread that is left waits";
    return {};
  }
  /// False: every schedule was run.
  bool advance() {
    while (!choices_.empty() && choices_.back().taken + 1 == choices_.back().candidates.size())
      choices_.pop_back();
    if (choices_.empty()) return false;
    ++choices_.back().taken;
    return true;
  }
  /// The thread that runs lets the scheduler choose.
  [[gnu::noinline]] void step() {
    if (_setjmp(fibers_[current_]->at) == 0) go_home();
  }
  [[nodiscard]] const void* current() const { return fibers_[current_].get(); }
  [[noreturn]] void go_home() { _longjmp(home_, 1); }
  void wait_until(const std::function<bool()>& ready) {
    fibers_[current_]->ready = ready;
    step();
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  void add(thread_body body) {
    fibers_.emplace_back(std::make_unique<fiber>())->body = std::move(body);
    if (stacks_.size() < fibers_.size())
      stacks_.push_back(std::make_unique_for_overwrite<std::byte[]>(stack_bytes));
  }
  /// Until its next step. A jump takes no system call, as swapcontext does: it is for the first
  /// only.
  [[gnu::noinline]] void let_run(std::size_t i) {
    if (_setjmp(home_) != 0) return;
    fiber& f = *fibers_[i];
    if (f.begun) _longjmp(f.at, 1);
    f.begun = true;
    ucontext_t first;
    getcontext(&first);
    first.uc_stack.ss_sp = stacks_[i].get();
    first.uc_stack.ss_size = stack_bytes;
    first.uc_link = nullptr;
    makecontext(&first, &scheduler::enter, 0);
    setcontext(&first);
  }
  static void enter();

  /// The thread that runs next; going on comes first, so that preemptions are the alternatives.
  bool pick() {
    std::vector<std::size_t> candidates;
    const bool can_go_on = current_ != none && fibers_[current_]->runnable();
    if (can_go_on) candidates.push_back(current_);
    if (!can_go_on || left_ > 0) {
      for (std::size_t i = 0; i < fibers_.size(); ++i)
        if (i != current_ && fibers_[i]->runnable()) candidates.push_back(i);
    }
    if (candidates.empty()) return false;
    if (depth_ == choices_.size()) choices_.push_back({candidates, 0});
    const std::size_t next = choices_[depth_].candidates[choices_[depth_].taken];
    ++depth_;
    if (can_go_on && next != current_) --left_;
    current_ = next;
    return true;
  }

  const int preemptions_;
  std::vector<std::unique_ptr<fiber>> fibers_;
  std::vector<std::unique_ptr<std::byte[]>> stacks_;  // one run's threads use those of the last's
  std::vector<choice> choices_;
  jmp_buf home_;
  std::size_t depth_ = 0, current_ = none;
  int left_ = 0;
};

scheduler* active = nullptr;  // NOLINT: fibers find their scheduler by it

void scheduler::enter() {
  fiber& self = *active->fibers_[active->current_];
  self.body();
  self.ended = true;
  active->go_home();
}

}  // namespace

explored explore(int preemptions, const std::function<std::vector<thread_body>()>& make,
                 const std::function<std::string()>& check) {
  explored result;
  scheduler all(preemptions);
  do {
    auto bodies = make();
    active = &all;
    result.failure = all.run(std::move(bodies));
    active = nullptr;
    ++result.schedules;
    if (result.failure.empty()) result.failure = check();
  } while (result.failure.empty() && all.advance());
  return result;
}

void step() {
  if (active != nullptr) active->step();
}

const void* this_fiber() {
  return active != nullptr ? active->current() : static_cast<const void*>(&active);
}

void wait_until(const std::function<bool()>& ready) {
  if (active != nullptr && !ready()) active->wait_until(ready);
}

}  // namespace heddle::model
