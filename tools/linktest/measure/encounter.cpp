// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/encounter.h"

#include <algorithm>
#include <array>
#include <chrono>

#include "linktest/plan/pattern.h"
#include "linktest/plan/permutation.h"

namespace heddle::linktest {
namespace {

using clock = std::chrono::steady_clock;

double since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

std::size_t slots_for(const options& how, std::uint64_t size) noexcept {
  constexpr std::uint64_t enough = std::uint64_t{32} << 20;  // bytes that keep a fast link busy
  return how.kernel == kernel::uni ? std::clamp<std::uint64_t>(enough / size, 1, how.window) : 1;
}

/// Of one of several buffers.
std::size_t whole_pages(std::size_t bytes) noexcept {
  constexpr std::size_t page = 4096;
  return (bytes + page - 1) / page * page;
}

/// Of all of them, where one takes so many bytes.
std::size_t of_all_buffers(const options& how, std::size_t bytes) noexcept {
  return how.buffers == 1 ? bytes : how.buffers * whole_pages(bytes);
}

pattern_key from_to(rank from, rank to, std::uint64_t seed) {
  return {from, to, seed};
}

}  // namespace

std::size_t receive_bytes(const options& how) noexcept {
  std::size_t most = 0;
  for (const std::uint64_t size : how.sizes) most = std::max(most, size * slots_for(how, size));
  return of_all_buffers(how, most);
}

std::size_t send_bytes(const options& how) noexcept {
  return of_all_buffers(how, how.sizes.back());
}

kernel_buffers buffers_of(const message_memory& memory, const options& how, std::uint64_t number,
                          std::uint64_t bytes) noexcept {
  const std::uint64_t which = how.buffers == 1 ? 0 : mix(how.seed ^ mix(number)) % how.buffers;
  const auto in = [&](std::span<std::byte> all) {
    return all.subspan(which * (all.size() / how.buffers));
  };
  return {in(memory.send).first(bytes), in(memory.receive).first(bytes * slots_for(how, bytes))};
}

encounter::encounter(messenger& wire, const options& how, const message_memory& memory,
                     const visit& what)
    : by_(wire, memory.by),
      how_(how),
      what_(what),
      buffers_(buffers_of(memory, how, what.with.number, what.bytes)),
      known_(what.known) {}

status encounter::run(std::span<const float> earlier) {
  times_.assign(earlier.begin(), earlier.end());
  fill_pattern(buffers_.send, from_to(by_.wire.self(), what_.with.peer, how_.seed));
  status s = greet();
  if (s != status::done || known_) return s;
  s = what_.with.initiator ? lead() : follow();
  return s == status::done && how_.check ? compare_verdicts() : s;
}

/// The peer may still be some steps behind. The initiator says whether there is anything to do.
status encounter::greet() {
  std::array<std::byte, 1> mine{std::byte{what_.known}}, theirs{};
  const tag t = tag_for(purpose::greeting, what_.with.number);
  status s = by_.wire.send(what_.with.peer, t, mine);
  if (s == status::done) s = by_.wire.recv(what_.with.peer, t, theirs, patience::meeting);
  if (!what_.with.initiator) known_ = theirs[0] != std::byte{0};
  return s == status::done && !known_ ? by_.prepare(what_.with.peer, what_.with.number, buffers_)
                                      : s;
}

status encounter::lead() {
  status s = how_.warmup != 0 ? warm_up() : status::done;
  if (s == status::done && how_.check) {
    s = tell(command::prepare);
    spoil_receive_memory();
  }
  if (s == status::done) s = time_until_enough();
  if (s == status::done && what_.single_messages && how_.kernel != kernel::uni) s = time_singles();
  return s == status::done ? tell(command::end) : s;
}

status encounter::follow() {
  for (;;) {
    std::array<std::byte, 1> mine{}, theirs{};
    status s = by_.wire.exchange(what_.with.peer, tag_for(purpose::ready, what_.with.number), mine,
                                 theirs);
    if (s != status::done) return s;
    switch (static_cast<command>(theirs[0])) {
      case command::warm_up:
        s = kernel_of(how_.warmup);
        break;
      case command::prepare:
        spoil_receive_memory();
        break;
      case command::time:
        s = kernel_of(how_.messages);
        break;
      case command::singles:
        s = kernel_of(how_.singles_at_once());
        break;
      case command::end:
        return status::done;
      default:
        return status::invalid;
    }
    if (s != status::done) return s;
  }
}

/// Returns when the peer is about to do it, too.
status encounter::tell(command next) {
  std::array<std::byte, 1> mine{static_cast<std::byte>(next)}, theirs{};
  return by_.wire.exchange(what_.with.peer, tag_for(purpose::ready, what_.with.number), mine,
                           theirs);
}

status encounter::warm_up() {
  warming state(how_.warming_turns);
  double elapsed_s = 0;
  status s = status::done;
  do {
    s = timed(command::warm_up, how_.warmup, elapsed_s);
  } while (s == status::done &&
           !state.is_steady(elapsed_s / static_cast<double>(how_.warmup), elapsed_s));
  return s;
}

status encounter::time_until_enough() {
  const auto begin = clock::now();
  do {
    double elapsed_s = 0;
    if (const status s = timed(command::time, how_.messages, elapsed_s); s != status::done)
      return s;
    times_.push_back(
        static_cast<float>(seconds_per_message(how_.kernel, elapsed_s, how_.messages)));
  } while (!is_enough(what_.how_often, times_, since(begin)));
  return status::done;
}

/// As many as are wanted, or as the budget allows.
status encounter::time_singles() {
  const std::size_t each = how_.singles_at_once() * answers_per_message(how_.kernel, how_.op);
  const std::size_t all = how_.singles * answers_per_message(how_.kernel, how_.op);
  const auto begin = clock::now();
  do {
    if (const status s = tell(command::singles); s != status::done) return s;
    singles_.resize(singles_.size() + each);
    kernel_call call = what_.with;
    call.messages = how_.singles_at_once();
    const status s = run_kernel_by_message(by_, how_.kernel, call, buffers_, what_.clock_look_s,
                                           std::span(singles_).last(each));
    if (s != status::done) return s;
  } while (singles_.size() < all && since(begin) < what_.how_often.budget_s);
  return status::done;
}

status encounter::timed(command what, std::uint64_t messages, double& elapsed_s) {
  status s = tell(what);
  if (s != status::done) return s;
  const auto begin = clock::now();
  s = kernel_of(messages);
  elapsed_s = since(begin);
  return s;
}

status encounter::kernel_of(std::uint64_t messages) {
  kernel_call call = what_.with;
  call.messages = messages;
  call.window = how_.window;
  return run_kernel(by_, how_.kernel, call, buffers_);
}

/// The slots the timed part writes; what does not arrive there must not look right.
std::size_t encounter::slots_written() const noexcept {
  const bool fetches = how_.op == operation::get;
  if (how_.kernel == kernel::bi || (how_.kernel == kernel::semi && !fetches)) return 1;
  if (what_.with.initiator != fetches) return 0;
  return std::min<std::size_t>(buffers_.receive.size() / what_.bytes, how_.messages);
}

void encounter::spoil_receive_memory() noexcept {
  const pattern_key expected = from_to(what_.with.peer, by_.wire.self(), how_.seed);
  for (std::size_t i = 0; i < slots_written(); ++i)
    fill_wrong(buffers_.receive.subspan(i * what_.bytes, what_.bytes), expected);
}

bool encounter::received_right() const noexcept {
  const pattern_key expected = from_to(what_.with.peer, by_.wire.self(), how_.seed);
  for (std::size_t i = 0; i < slots_written(); ++i)
    if (first_wrong(buffers_.receive.subspan(i * what_.bytes, what_.bytes), expected) != all_right)
      return false;
  return true;
}

status encounter::compare_verdicts() {
  std::array<std::byte, 1> mine{received_right() ? std::byte{0} : std::byte{1}}, theirs{};
  const status s = by_.wire.exchange(what_.with.peer, tag_for(purpose::verdict, what_.with.number),
                                     mine, theirs);
  corrupted_ = mine[0] != std::byte{0} || theirs[0] != std::byte{0};
  return s;
}

}  // namespace heddle::linktest
