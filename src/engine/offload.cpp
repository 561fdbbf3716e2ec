// SPDX-License-Identifier: BSD-3-Clause
#include "engine/offload.h"

#include <algorithm>
#include <bit>

namespace heddle::engine {
namespace {

/// Of so many decisions, this many in a row try the other way, where it might pay.
constexpr std::uint64_t trial_every = 1024, trials = 16;
constexpr std::uint64_t sample_every = 8;
/// Cheaper submissions are not worth a trial.
constexpr std::uint64_t worth_ns = 2000;
constexpr std::uint64_t always = 1000;  // helped_, in thousandths

/// A moving mean over about eight samples. One that is far off counts as eight times the mean:
/// the thread was preempted.
void learn(sync::owned_counter& mean, std::uint64_t sample) noexcept {
  const std::uint64_t before = mean.get();
  if (before == 0) return mean.set(std::max<std::uint64_t>(sample, 1));
  const std::uint64_t taken = std::min(sample, 8 * before + 8);
  mean.set(std::max<std::uint64_t>((7 * before + taken) / 8, 1));
}

}  // namespace

std::size_t offload_model::class_of(std::size_t bytes) noexcept {
  const auto log = static_cast<std::size_t>(std::bit_width(bytes / least_bytes | 1)) - 1;
  return std::min(log, classes - 1);
}

bool offload_model::samples() noexcept {
  const std::uint64_t n = asked_.next();
  return n % sample_every == 0 || n % trial_every < trials;
}

bool offload_model::leave(std::size_t bytes) const noexcept {
  const std::size_t c = class_of(bytes);
  const bool leaves = (verdicts_.get() >> c & 1) != 0;
  if (asked_.get() % trial_every >= trials) return leaves;
  // The program must compute long enough for a helper to be done by then.
  const std::uint64_t s = submit_ns_[c].get();
  return s >= worth_ns && compute_ns_.get() >= s ? !leaves : leaves;
}

void offload_model::submitted(std::size_t bytes, std::uint64_t ns) noexcept {
  learn(submit_ns_[class_of(bytes)], ns);
  judge();
}

void offload_model::left(std::uint64_t ns, bool woke) noexcept {
  learn(woke ? wake_ns_ : leave_ns_, ns);
}

void offload_model::picked_up(std::uint64_t now_ns, bool by_helper) noexcept {
  if (by_helper) learn(pick_up_ns_, now_ns - std::min(now_ns, stamped_at_ns_.get()));
  helped_.set((7 * helped_.get() + (by_helper ? always : 0)) / 8);
  judge();
}

void offload_model::computed(std::uint64_t ns) noexcept {
  learn(compute_ns_, ns);
  judge();
}

void offload_model::judge() noexcept {
  const std::uint64_t before = verdicts_.get();
  std::uint64_t after = 0;
  for (std::size_t c = 0; c < classes; ++c)
    if (pays(c, (before >> c & 1) != 0)) after |= std::uint64_t{1} << c;
  if (after != before) verdicts_.set(after);
}

/// With hysteresis: a fifth better to begin with, no worse to go on.
bool offload_model::pays(std::size_t size_class, bool leaves_now) const noexcept {
  const std::uint64_t s = submit_ns_[size_class].get(), c = compute_ns_.get(), p = helped_.get();
  const std::uint64_t late = pick_up_ns_.get() + s > c ? pick_up_ns_.get() + s - c : 0;
  const std::uint64_t cost = std::max(leave_ns_.get(), wake_ns_.get()) +
                             (p * std::min(late, s) + (always - p) * s) / always;
  return leaves_now ? cost < s : cost + s / 5 < s;
}

offload_model::inputs offload_model::now() const noexcept {
  inputs in{.leave_ns = leave_ns_.get(),
            .wake_ns = wake_ns_.get(),
            .pick_up_ns = pick_up_ns_.get(),
            .compute_ns = compute_ns_.get(),
            .helped_percent = helped_.get() * 100 / always,
            .submit_ns = {},
            .verdicts = verdicts_.get()};
  for (std::size_t c = 0; c < classes; ++c) in.submit_ns[c] = submit_ns_[c].get();
  return in;
}

}  // namespace heddle::engine
