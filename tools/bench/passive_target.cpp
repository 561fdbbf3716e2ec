// passive_target.cpp - being read from and written to.
#include <atomic>
#include <stdexcept>

#include "bench/exchange.h"

namespace heddle::bench {

passive_target::passive_target(const seat& s) : seat_(s) {
  const std::size_t offset =
      s.gear.layout().control() + static_cast<std::size_t>(s.thread) * line_bytes;
  word_there_ = s.gear.their_table().at(offset);
  word_here_ = reinterpret_cast<std::uint64_t*>(s.gear.table() + offset);
}

void passive_target::conclude() {
  ++runs_;
  lane& l = seat_.own_lane();
  const status told = seat_.what.target == target_mode::computing
                          ? l.put(runs_, remote_ptr<std::uint64_t>{word_there_})
                          : l.send(seat_.at.peer(), seat_.tag_for(purpose::finished), {});
  require(told, "tell the target that the run is over");
}

void passive_target::compute_until_told() {
  volatile std::uint64_t work = 1;
  // Acquire pairs with the release of the initiator's put, made by Heddle.
  while (std::atomic_ref(*word_here_).load(std::memory_order_acquire) != runs_) {
    for (int i = 0; i < 1000; ++i) work = work * 3 + 1;
  }
}

void passive_target::respond(std::uint64_t) {
  ++runs_;
  if (seat_.what.target == target_mode::computing) {
    compute_until_told();
    return;
  }
  const tag finished = seat_.tag_for(purpose::finished);
  require(seat_.own_lane().recv(seat_.at.peer(), finished, {}).code, "wait for the end of a run");
}

std::unique_ptr<exchange> make_exchange(const seat& s) {
  if (s.what.background) return make_background(s);
  return s.what.what == kind::latency ? make_latency(s) : make_flood(s);
}

}  // namespace heddle::bench
