// SPDX-License-Identifier: BSD-3-Clause
// progress.cpp - the bar and the lines.
#include "linktest/draw/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace heddle::linktest {
namespace {

/// Until all is measured, or the time is up.
double remaining_s(const progress& p, double elapsed_s, double budget_s) {
  const double for_all = elapsed_s * static_cast<double>(p.units - p.units_done) /
                         static_cast<double>(std::max<std::uint64_t>(p.units_done, 1));
  return budget_s > 0 ? std::clamp(budget_s - elapsed_s, 0.0, for_all) : for_all;
}

/// Of the work, or of the time, whichever comes to its end first.
double done_part(const progress& p, double elapsed_s, double budget_s) {
  const double of_work = static_cast<double>(p.units_done) / static_cast<double>(p.units);
  return budget_s > 0 ? std::max(of_work, std::min(elapsed_s / budget_s, 1.0)) : of_work;
}

std::string where(const progress& p) {
  std::string text = fmt::format("step {}/{}", p.step, p.steps);
  if (p.repetitions > 1) text += fmt::format(" of repetition {}/{}", p.repetition, p.repetitions);
  return text;
}

}  // namespace

std::string format_duration(double seconds) {
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::uint64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

std::string bar_line(const progress& p, double elapsed_s, int width, double budget_s) {
  const double part = done_part(p, elapsed_s, budget_s);
  const std::string text = fmt::format(" {:3.0f} %  {}  {} left", std::floor(100 * part), where(p),
                                       format_duration(remaining_s(p, elapsed_s, budget_s)));
  const int room = std::clamp(width - static_cast<int>(text.size()) - 3, 0, 40);
  if (room < 5) return text.substr(0, static_cast<std::size_t>(std::max(width - 1, 0)));
  const int full = static_cast<int>(part * room);
  return fmt::format("[{:#<{}}{:.<{}}]{}", "", full, "", room - full, text);
}

progress_display::progress_display(progress_choice how, int width, sink out, clock now,
                                   double budget_s)
    : how_(how),
      width_(width),
      out_(std::move(out)),
      now_(std::move(now)),
      began_(now_()),
      budget_s_(budget_s) {}

void progress_display::update(const progress& p) {
  const double now = now_();
  if (how_ == progress_choice::bar) redraw_bar(p, now);
  if (how_ == progress_choice::lines) add_line(p, now);
}

void progress_display::redraw_bar(const progress& p, double now) {
  constexpr double interval_s = 0.1;
  if (last_drawn_ >= 0 && now - last_drawn_ < interval_s && p.units_done < p.units) return;
  last_drawn_ = now;
  on_screen_ = true;
  out_("\r" + bar_line(p, now - began_, width_, budget_s_) + "\033[K");
}

void progress_display::add_line(const progress& p, double now) {
  constexpr double least_pause_s = 2;
  const double elapsed = now - began_, part = done_part(p, elapsed, budget_s_);
  const auto tenths = static_cast<std::uint64_t>(part * 10);
  if (tenths == tenths_told_ || now - std::max(last_drawn_, began_) < least_pause_s) return;
  tenths_told_ = tenths;
  last_drawn_ = now;
  out_(fmt::format("linktest: {:3.0f} %  {}  elapsed {}, {} left\n", std::floor(100 * part),
                   where(p), format_duration(elapsed),
                   format_duration(remaining_s(p, elapsed, budget_s_))));
}

void progress_display::finish() {
  if (on_screen_) out_("\r\033[K");
  on_screen_ = false;
}

}  // namespace heddle::linktest
