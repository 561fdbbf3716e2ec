// SPDX-License-Identifier: BSD-3-Clause
#include "model/explorer.h"

#include <ucontext.h>

#include <array>
#include <cstddef>

namespace heddle::model {
namespace {

/// Far more than any program here takes.
constexpr int most_steps = 10'000;

struct fiber {
  thread_body body;
  ucontext_t context{};
  std::vector<std::byte> stack = std::vector<std::byte>(64 * 1024);
  std::function<bool()> ready;  // set: waits for it
  bool ended = false;

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
      swapcontext(&home_, &fibers_[current_]->context);
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
  void step() { swapcontext(&fibers_[current_]->context, &home_); }
  void wait_until(const std::function<bool()>& ready) {
    fibers_[current_]->ready = ready;
    step();
  }

 private:
  static constexpr std::size_t none = ~std::size_t{0};

  void add(thread_body body) {
    auto& f = *fibers_.emplace_back(std::make_unique<fiber>());
    f.body = std::move(body);
    getcontext(&f.context);
    f.context.uc_stack.ss_sp = f.stack.data();
    f.context.uc_stack.ss_size = f.stack.size();
    f.context.uc_link = &home_;
    makecontext(&f.context, &scheduler::enter, 0);
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
  std::vector<choice> choices_;
  ucontext_t home_{};
  std::size_t depth_ = 0, current_ = none;
  int left_ = 0;
};

scheduler* active = nullptr;  // NOLINT: fibers find their scheduler by it

void scheduler::enter() {
  fiber& self = *active->fibers_[active->current_];
  self.body();
  self.ended = true;
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

void wait_until(const std::function<bool()>& ready) {
  if (active != nullptr && !ready()) active->wait_until(ready);
}

}  // namespace heddle::model
