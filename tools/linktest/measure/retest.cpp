// SPDX-License-Identifier: BSD-3-Clause
// retest.cpp - an order from the recorder to all, then probe by probe.
#include "linktest/measure/retest.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "linktest/measure/core_wait.h"
#include "linktest/measure/kernels.h"

namespace heddle::linktest {
namespace {

constexpr float failed_probe = std::numeric_limits<float>::quiet_NaN();
constexpr int turns = 5;                                 // of which the median is taken
constexpr std::uint64_t apart = std::uint64_t{1} << 40;  // from the numbers of the run's own turns

}  // namespace

std::vector<float> retest::ask(std::span<const probe> wanted, std::uint64_t bytes) {
  std::vector<probe> probes(wanted.begin(), wanted.end());
  if (how_.initiator_receives())  // a probe says where the data goes
    for (probe& p : probes) std::swap(p.from, p.to);
  announce({probes.size(), bytes}, probes);
  return carry_out(probes, bytes);
}

void retest::end() {
  announce({0, 0}, {});
}

/// To everybody, so that no rank depends on another one that may be lost.
void retest::announce(order what, std::span<const probe> wanted) {
  for (rank r = 0; r < ranks_.wire().size(); ++r) {
    if (r == ranks_.wire().self() || ranks_.lost(r)) continue;
    const tag t = tag_for(purpose::probes, 0);
    status s = ranks_.wire().send(r, t, std::as_bytes(std::span(&what, 1)));
    if (s == status::done && what.probes > 0) s = ranks_.wire().send(r, t, std::as_bytes(wanted));
    if (s != status::done) ranks_.lose(r);
  }
}

void retest::serve() {
  while (!ranks_.lost(recorder_)) {
    const tag t = tag_for(purpose::probes, 0);
    order what{};
    std::vector<probe> wanted;
    status s = ranks_.wire().recv(recorder_, t, std::as_writable_bytes(std::span(&what, 1)),
                                  patience::meeting);
    if (s == status::done && what.probes == 0) return;
    if (s == status::done) {
      wanted.resize(what.probes);
      s = ranks_.wire().recv(recorder_, t, std::as_writable_bytes(std::span(wanted)),
                             patience::meeting);
    }
    if (s == status::done)
      (void)carry_out(wanted, what.bytes);
    else
      ranks_.lose(recorder_);
  }
}

/// The recorder returns all times.
std::vector<float> retest::carry_out(std::span<const probe> wanted, std::uint64_t bytes) {
  std::vector<float> out(wanted.size(), failed_probe);
  const rank self = ranks_.wire().self();
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    stopped_ =
        (ranks_.meet(stop_wanted_() ? stop_requested : nothing_special) & stop_requested) != 0;
    if (stopped_) break;
    const float mine = turn(wanted[i], bytes);
    const rank from = wanted[i].from;
    const tag t = tag_for(purpose::probes, 1 + i);
    if (from == self) out[i] = mine;
    if (from == recorder_ || ranks_.lost(from == self ? recorder_ : from)) continue;
    if (from == self) (void)ranks_.wire().send(recorder_, t, std::as_bytes(std::span(&mine, 1)));
    if (self == recorder_ &&
        ranks_.wire().recv(from, t, std::as_writable_bytes(std::span(&out[i], 1)),
                           patience::meeting) != status::done)
      ranks_.lose(from);
  }
  return out;
}

/// This rank's part in one probe: seconds per message for who has the clock of it.
float retest::turn(const probe& what, std::uint64_t bytes) {
  ++number_;
  const rank self = ranks_.wire().self();
  if (what.step < 0) {
    if (self == what.from) return measure_with(what.to, true, bytes);
    if (self == what.to) (void)measure_with(what.from, false, bytes);
    return failed_probe;
  }
  // The phase of the step in which the pair goes this way; of serial runs nothing is asked here.
  const std::int64_t phase = plan_.leads_first(what.from, what.to) ? 0 : 1;
  const linktest::turn mine = plan_.turn_of(self, 0, what.step, phase);
  if (mine.peer < 0) return failed_probe;
  const float took = measure_with(mine.peer, mine.initiator, bytes);
  return self == what.from ? took : failed_probe;
}

float retest::measure_with(rank peer, bool initiator, std::uint64_t bytes) {
  if (ranks_.lost(peer)) return failed_probe;
  const core_wait watched;
  std::vector<float> times;
  double elapsed_s = 0;
  for (int i = 0; i <= turns; ++i) {
    const std::uint64_t messages = i == 0 ? std::max<std::uint64_t>(how_.warmup, 1) : how_.messages;
    if (once(peer, initiator, bytes, messages, elapsed_s) != status::done) {
      ranks_.lose(peer);
      return failed_probe;
    }
    if (i > 0)
      times.push_back(static_cast<float>(seconds_per_message(how_.kernel, elapsed_s, messages)));
  }
  if (how_.search.diagnose == diagnosis_choice::automatic && is_disturbed(peer, watched.share()))
    return failed_probe;
  return sketch_of(times).median;
}

/// Whether one of the two was kept from its core; both say so.
bool retest::is_disturbed(rank peer, double share) {
  const std::array<std::byte, 1> mine{std::byte{share > disturbing_wait}};
  std::array<std::byte, 1> theirs{};
  const status s =
      ranks_.wire().exchange(peer, tag_for(purpose::verdict, apart + number_), mine, theirs);
  if (s != status::done) ranks_.lose(peer);
  return s != status::done || mine[0] != std::byte{0} || theirs[0] != std::byte{0};
}

status retest::once(rank peer, bool initiator, std::uint64_t bytes, std::uint64_t messages,
                    double& elapsed_s) {
  std::array<std::byte, 1> mine{}, theirs{};
  const ways by(ranks_.wire(), memory_.by);
  const kernel_buffers buffers = buffers_of(memory_, how_, apart + number_, bytes);
  status ready = by.prepare(peer, apart + number_, buffers);
  if (ready == status::done)
    ready = by.wire.exchange(peer, tag_for(purpose::ready, apart + number_), mine, theirs);
  if (ready != status::done) return ready;
  const auto begin = std::chrono::steady_clock::now();
  const status s = run_kernel(by, how_.kernel,
                              {peer, initiator, apart + number_, messages, how_.window}, buffers);
  elapsed_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return s;
}

}  // namespace heddle::linktest
