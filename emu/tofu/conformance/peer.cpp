// SPDX-License-Identifier: BSD-3-Clause
#include "peer.h"

#include <algorithm>
#include <utility>

namespace conformance {
namespace {

/// Of the last request in this process, so that no answer finds the wrong question.
std::uint64_t last_number = 0;

noticed unpack(const reply& answer) {
  noticed entry;
  entry.code = int(answer.code);
  entry.notice.notice_type = std::uint8_t(answer.values[0]);
  entry.notice.vcq_id = answer.values[1];
  entry.notice.edata = answer.values[2];
  entry.notice.rmt_value = answer.values[3];
  entry.notice.lcl_stadd = answer.values[4];
  entry.notice.rmt_stadd = answer.values[5];
  return entry;
}

std::uint64_t milliseconds(double seconds) {
  return std::uint64_t(seconds * 1000);
}

}  // namespace

peer::peer() : self_(std::make_unique<servant>()) {}

peer::peer(std::shared_ptr<way> there, std::unique_ptr<process> child)
    : child_(std::move(child)), way_(std::move(there)) {}

std::string peer::leave() {
  if (way_ == nullptr) return "";
  const request bye{};
  way_->send(&bye, sizeof bye);
  way_ = nullptr;
  if (child_ == nullptr || (child_->wait(5) && child_->ended_well())) return "";
  return child_->ending();
}

void peer::start(verb what, std::initializer_list<std::uint64_t> args) {
  request asked;
  asked.what = what;
  asked.number = asked_ = ++last_number;
  std::copy(args.begin(), args.end(), asked.args);
  if (self_ != nullptr) {
    own_answer_ = self_->obey(asked);
  } else if (!way_->send(&asked, sizeof asked)) {
    throw peer_lost("a helper is gone: " + (child_ ? (child_->wait(1), child_->ending()) : ""));
  }
}

bool peer::finish_or_end(reply& answer, double seconds) {
  if (self_ != nullptr) {
    answer = own_answer_;
    return true;
  }
  // An answer to something asked before came too late for whoever asked.
  const deadline over(seconds);
  while (way_->receive(&answer, sizeof answer, over.left())) {
    if (answer.number == asked_) return true;
  }
  return false;
}

reply peer::finish(double seconds) {
  reply answer;
  if (finish_or_end(answer, seconds)) return answer;
  throw peer_lost("a helper does not answer: " +
                  (child_ ? (child_->wait(1), child_->ending()) : "it is another rank"));
}

reply peer::ask(verb what, std::initializer_list<std::uint64_t> args) {
  start(what, args);
  return finish();
}

coords peer::where() {
  const reply answer = ask(verb::hello);
  coords place;
  for (std::size_t i = 0; i < 6; ++i) place[i] = std::uint8_t(answer.values[i]);
  return place;
}

far_vcq peer::open(utofu_tni_id_t tni, unsigned long flags, std::uint64_t cmp) {
  const reply answer = ask(verb::open, {tni, flags, cmp});
  return {int(answer.code), answer.values[0], answer.values[1], int(answer.values[2])};
}

int peer::close(const far_vcq& which) {
  return int(ask(verb::close, {which.index}).code);
}

std::uint64_t peer::allocate(std::size_t bytes, origin from) {
  return ask(verb::allocate, {bytes, std::uint64_t(from)}).values[0];
}

far_memory peer::enroll(const far_vcq& with, std::uint64_t memory, std::size_t offset,
                        std::size_t bytes, unsigned long flags, std::uint64_t tag) {
  const reply answer = ask(verb::enroll, {with.index, memory, offset, bytes, flags, tag});
  return {int(answer.code), answer.values[0], answer.values[1]};
}

int peer::strike(const far_memory& which) {
  return int(ask(verb::strike, {which.registration}).code);
}

void peer::fill(std::uint64_t memory, std::size_t offset, std::size_t bytes, std::uint64_t seed) {
  ask(verb::fill, {memory, offset, bytes, seed});
}

void peer::set(std::uint64_t memory, std::size_t offset, std::size_t bytes, int value) {
  ask(verb::set, {memory, offset, bytes, std::uint64_t(value)});
}

std::size_t peer::mismatch(std::uint64_t memory, std::size_t offset, std::size_t bytes,
                           std::uint64_t seed) {
  return ask(verb::mismatch, {memory, offset, bytes, seed}).values[0];
}

std::size_t peer::differs(std::uint64_t memory, std::size_t offset, std::size_t bytes, int value) {
  return ask(verb::differs, {memory, offset, bytes, std::uint64_t(value)}).values[0];
}

std::uint64_t peer::word(std::uint64_t memory, std::size_t offset) {
  return ask(verb::word, {memory, offset}).values[0];
}

noticed peer::notice(const far_vcq& of, double seconds) {
  return unpack(ask(verb::notice, {of.index, milliseconds(seconds)}));
}

tally peer::count_notices(const far_vcq& of, std::uint64_t want, double seconds) {
  const reply answer = ask(verb::count_notices, {of.index, want, milliseconds(seconds)});
  return {answer.values[0], answer.values[1], int(answer.code)};
}

void peer::rest(double seconds) {
  ask(verb::rest, {milliseconds(seconds)});
}

void peer::start_adding(const flood_order& order) {
  start(verb::add, {order.from, order.to, order.at, order.count});
}

void peer::start_flood(const flood_order& order) {
  start(verb::flood, {order.from, order.to, order.at, order.count, order.flags});
}

}  // namespace conformance
