// SPDX-License-Identifier: BSD-3-Clause
// chaos.cpp - see chaos.h.
#include "chaos.h"

#include <utofu.h>

#include <algorithm>

namespace tofu {

namespace {

bool is_put(const operation& op) noexcept {
  return op.what == command::put || op.what == command::piggyback;
}
bool is_strong(const operation& op) noexcept {
  return op.has(UTOFU_ONESIDED_FLAG_STRONG_ORDER);
}

}  // namespace

/// xorshift: one seed, one run.
std::uint64_t chaos::random(std::uint64_t below) noexcept {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  return (random_ >> 11) % below;
}

void chaos::accept(const operation& op, std::uint64_t index) {
  stream& s = streams_[{op.vcq_id, op.cmp, op.path}];
  s.commands.emplace_back();
  s.commands.back().op = op;
  s.commands.back().index = index;
}

void chaos::rest() noexcept {
  for (auto& [unused, s] : streams_) s.rests -= s.rests > 0 ? 1 : 0;
}

/// One step of a random stream that does not rest. False: there is none.
bool chaos::step() {
  const auto ready = [](const auto& s) { return s.second.rests == 0; };
  const auto count = std::count_if(streams_.begin(), streams_.end(), ready);
  if (count == 0) return false;
  auto left = random(static_cast<std::uint64_t>(count));
  auto at = std::find_if(streams_.begin(), streams_.end(), ready);
  for (; left > 0; --left) at = std::find_if(std::next(at), streams_.end(), ready);
  advance(pick(at->second));
  retire(at->second);
  at->second.rests = random(4) == 0 ? random(6) : 0;
  if (at->second.commands.empty()) streams_.erase(at);
  return true;
}

/// A command that may be worked on: the first, or a put behind other puts, see above.
chaos::waiting& chaos::pick(stream& s) noexcept {
  constexpr std::size_t window = 4;
  std::vector<waiting*> candidates;
  bool strong_before = false;
  for (std::size_t i = 0; i < std::min(window, s.commands.size()); ++i) {
    waiting& w = s.commands[i];
    if (i > 0 && !is_put(w.op)) break;
    const bool strong = is_strong(w.op);
    if (!w.done && !(strong && strong_before)) candidates.push_back(&w);
    strong_before = strong_before || (strong && !w.done);
    if (!is_put(w.op)) break;
  }
  return *candidates[random(candidates.size())];
}

void chaos::advance(waiting& w) {
  if (!w.begun) {
    begin(w);
  } else if (!w.pieces.empty()) {
    move_piece(w);
  }
  w.done = w.begun && w.pieces.empty();
}

void chaos::tell(waiting& w, int code) {
  if (!w.told) finished_.emplace_back(w.index, code);
  w.told = true;
}

void chaos::begin(waiting& w) {
  w.begun = true;
  const int code = executor_.check_locally(w.op);
  if (code != UTOFU_SUCCESS || w.op.what == command::nop) {
    tell(w, code);
    w.dropped = true;
    return;
  }
  if (w.op.is_arithmetic()) return;  // executed when it retires
  cut(w);
  if (random(2) == 0) return;
  if (w.op.what == command::put) {
    stag_visit visit;
    const std::byte* const from = executor_.source(w.op, visit);
    if (from == nullptr) return;  // withdrawn since; the first piece will tell
    w.aside.assign(from, from + w.op.extent());
  }
  tell(w, UTOFU_SUCCESS);
}

/// Packets, and small puts into parts of lines; never inside an aligned word of the target.
void chaos::cut(waiting& w) {
  constexpr std::uint32_t packet = 1920, small = 8192;
  for (std::uint64_t block = 0; block < w.op.blocks; ++block) {
    for (std::uint32_t at = 0; at < w.op.length;) {
      const auto word = static_cast<std::uint32_t>((w.op.rmt_stadd + block * w.op.stride + at) % 8);
      const std::uint32_t most = w.op.length > small ? packet : 8u << random(6);  // 8 to 256 bytes
      const std::uint32_t length = std::min(most - word % most, w.op.length - at);
      w.pieces.push_back({block, at, length});
      at += length;
    }
  }
  if (is_strong(w.op)) {
    std::reverse(w.pieces.begin(), w.pieces.end());
    return;
  }
  for (std::size_t i = w.pieces.size(); i > 1; --i) std::swap(w.pieces[i - 1], w.pieces[random(i)]);
}

void chaos::move_piece(waiting& w) {
  const piece p = w.pieces.back();
  w.pieces.pop_back();
  const std::byte* const data =
      w.aside.empty() ? nullptr : w.aside.data() + p.block * w.op.stride + p.offset;
  const int code = executor_.move(w.op, p, data);
  if (code == UTOFU_SUCCESS) return;
  w.pieces.clear();
  w.code = code;
  if (!is_tcq_error(code)) return;
  if (w.told) {  // a get whose memory was withdrawn on the way
    w.code = UTOFU_ERR_MRQ_LCL_MEMORY;
    return;
  }
  tell(w, code);
  w.dropped = true;
}

/// What is done leaves the stream, in order.
void chaos::retire(stream& s) {
  while (!s.commands.empty() && s.commands.front().done) {
    waiting& w = s.commands.front();
    if (!w.dropped) leave_notices(w);
    s.commands.pop_front();
  }
}

void chaos::leave_notices(waiting& w) {
  tell(w, UTOFU_SUCCESS);
  if (w.op.is_arithmetic()) {
    executor_.execute_armw(w.op);
    return;
  }
  const std::uint64_t blocks = w.code == UTOFU_SUCCESS ? w.op.blocks : 1;
  for (std::uint64_t block = 0; block < blocks; ++block) {
    executor_.finish_block(w.op, block, w.code);
  }
}

}  // namespace tofu
