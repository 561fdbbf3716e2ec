// measure.cpp - turns: prepare, meet, warm up, time, check.
#include "linktest/measure.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <optional>

#include "linktest/kernels.h"
#include "linktest/pattern.h"
#include "linktest/plan.h"

namespace heddle::linktest {
namespace {

using clock = std::chrono::steady_clock;

std::size_t slots_for(kernel k, std::uint64_t size) noexcept {
  constexpr std::uint64_t enough = std::uint64_t{32} << 20;  // bytes that keep a fast link busy
  return k == kernel::uni ? std::clamp<std::uint64_t>(enough / size, 1, 64) : 1;
}

/// One measurement of one pair and size, seen from one side.
class encounter {
 public:
  encounter(messenger& wire, const options& how, const message_memory& memory,
            const kernel_call& call, std::uint64_t size)
      : wire_(wire),
        how_(how),
        call_(call),
        send_(memory.send.first(size)),
        receive_(memory.receive.first(size * slots_for(how.kernel, size))) {}

  /// On success elapsed_s() and corrupted() are known.
  status run() {
    fill_pattern(send_, {wire_.self(), call_.peer, how_.seed});
    status s = warm_up();
    if (s != status::done) return s;
    spoil_receive_memory();
    if ((s = get_ready()) != status::done) return s;
    const auto begin = clock::now();
    s = run_kernel(wire_, how_.kernel, call_, {send_, receive_});
    elapsed_ = clock::now() - begin;
    return s == status::done ? compare_verdicts() : s;
  }
  [[nodiscard]] double elapsed_s() const noexcept { return elapsed_.count(); }
  [[nodiscard]] bool corrupted() const noexcept { return corrupted_; }

 private:
  status get_ready() {
    std::array<std::byte, 1> mine{}, theirs{};
    return wire_.exchange(call_.peer, tag_for(purpose::ready, call_.number), mine, theirs);
  }

  status warm_up() {
    if (how_.warmup == 0) return status::done;
    const status s = get_ready();
    if (s != status::done) return s;
    kernel_call untimed = call_;
    untimed.messages = how_.warmup;
    return run_kernel(wire_, how_.kernel, untimed, {send_, receive_});
  }

  /// The slots the timed part will write; what does not arrive there must not look right.
  [[nodiscard]] std::size_t slots_written() const noexcept {
    if (how_.kernel != kernel::uni) return 1;
    if (call_.initiator) return 0;
    return std::min<std::size_t>(receive_.size() / send_.size(), call_.messages);
  }

  void spoil_receive_memory() noexcept {
    for (std::size_t i = 0; i < slots_written(); ++i)
      fill_wrong(receive_.subspan(i * send_.size(), send_.size()), expected());
  }

  [[nodiscard]] pattern_key expected() const noexcept {
    return {call_.peer, wire_.self(), how_.seed};
  }

  [[nodiscard]] bool received_right() const noexcept {
    for (std::size_t i = 0; i < slots_written(); ++i)
      if (first_wrong(receive_.subspan(i * send_.size(), send_.size()), expected()) != all_right)
        return false;
    return true;
  }

  status compare_verdicts() {
    std::array<std::byte, 1> mine{received_right() ? std::byte{0} : std::byte{1}}, theirs{};
    const status s =
        wire_.exchange(call_.peer, tag_for(purpose::verdict, call_.number), mine, theirs);
    corrupted_ = mine[0] != std::byte{0} || theirs[0] != std::byte{0};
    return s;
  }

  messenger& wire_;
  const options& how_;
  kernel_call call_;
  std::span<std::byte> send_, receive_;
  std::chrono::duration<double> elapsed_{};
  bool corrupted_ = false;
};

class run {
 public:
  run(meeting& ranks, const options& how, const message_memory& memory, const observer& watch)
      : ranks_(ranks),
        how_(how),
        memory_(memory),
        watch_(watch),
        plan_(ranks.wire().size(), how.mode, how.shuffle, how.seed),
        out_{row(how.sizes.size(), ranks.wire().size(), how.repetitions)} {}

  run_result all() {
    for (std::uint64_t r = 0; r < how_.repetitions && !out_.stopped; ++r)
      for (std::int64_t s = 0; s < plan_.steps() && !out_.stopped; ++s)
        for (std::int64_t p = 0; p < plan_.phases() && !out_.stopped; ++p) unit(r, s, p);
    return std::move(out_);
  }

 private:
  void unit(std::uint64_t repetition, std::int64_t step, std::int64_t phase) {
    const std::uint32_t wish = watch_.stop_wanted() ? stop_requested : nothing_special;
    out_.stopped = (ranks_.meet(wish) & stop_requested) != 0;
    if (out_.stopped) return;
    const turn mine = plan_.turn_of(ranks_.wire().self(), repetition, step, phase);
    for (std::size_t i = 0; i < how_.sizes.size(); ++i) {
      // Pairs of a step share wires on purpose, so all begin each size together.
      if (i > 0 && how_.mode == run_mode::parallel) ranks_.meet(nothing_special);
      if (mine.peer >= 0) meet_peer(mine, i, out_.units_done * how_.sizes.size() + i);
    }
    ++out_.units_done;
    const auto steps = plan_.steps(), phases = plan_.phases();
    watch_.on_unit({out_.units_done, how_.repetitions * static_cast<std::uint64_t>(steps * phases),
                    step + 1, steps, repetition + 1, how_.repetitions});
  }

  /// Only what this rank should have timed is its own to mark.
  void mark_lost(const turn& mine, std::size_t size_index) noexcept {
    if (mine.initiator) out_.measured.mark(size_index, mine.peer, pair_state::lost);
  }

  void meet_peer(const turn& mine, std::size_t size_index, std::uint64_t number) {
    if (ranks_.lost(mine.peer)) return mark_lost(mine, size_index);
    encounter with(ranks_.wire(), how_, memory_, {mine.peer, mine.initiator, number, how_.messages},
                   how_.sizes[size_index]);
    if (with.run() != status::done) {
      ranks_.lose(mine.peer);
      return mark_lost(mine, size_index);
    }
    if (!mine.initiator) return;
    out_.measured.add_time(size_index, mine.peer,
                           seconds_per_message(how_.kernel, with.elapsed_s(), how_.messages));
    if (with.corrupted()) out_.measured.mark(size_index, mine.peer, pair_state::corrupted);
  }

  meeting& ranks_;
  const options& how_;
  const message_memory& memory_;
  const observer& watch_;
  plan plan_;
  run_result out_;
};

bool receive_row(meeting& ranks, rank from, std::span<pair_record> into) {
  if (ranks.lost(from)) return false;
  if (ranks.wire().recv(from, tag_for(purpose::rows, 0), std::as_writable_bytes(into),
                        patience::meeting) == status::done)
    return true;
  ranks.lose(from);
  return false;
}

std::vector<pair_record> row_of_lost(const results& all, rank who) {
  row unknown(all.sizes().size(), all.ranks(), 0);
  for (int p = 0; p < all.ranks(); ++p)
    if (p != who) unknown.mark_all_sizes(p, pair_state::lost);
  return unknown.records();
}

}  // namespace

std::size_t receive_bytes(kernel k, std::span<const std::uint64_t> sizes) noexcept {
  std::size_t most = 0;
  for (const std::uint64_t size : sizes) most = std::max(most, size * slots_for(k, size));
  return most;
}

run_result measure(meeting& ranks, const options& how, const message_memory& memory,
                   const observer& watch) {
  return run(ranks, how, memory, watch).all();
}

gathered gather_rows(meeting& ranks, const row& mine, results& all) {
  std::vector<pair_record> records = mine.records();
  const rank self = ranks.wire().self(), recorder = ranks.choose_recorder();
  if (self != recorder) {
    const bool delivered = !ranks.lost(recorder) &&
                           ranks.wire().send(recorder, tag_for(purpose::rows, 0),
                                             std::as_bytes(std::span(records))) == status::done;
    return {delivered ? gathered::place::elsewhere : gathered::place::nowhere};
  }
  gathered result{gathered::place::here};
  all.set_row(self, records);
  for (rank r = 0; r < ranks.wire().size(); ++r) {
    if (r == self) continue;
    const bool came = receive_row(ranks, r, records);
    result.heard += came ? 1 : 0;
    all.set_row(r, came ? records : row_of_lost(all, r));
  }
  return result;
}

}  // namespace heddle::linktest
