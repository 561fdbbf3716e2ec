// SPDX-License-Identifier: BSD-3-Clause
#include "servant.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>

namespace conformance {
namespace {

/// For how long the process will look at nothing, once it has answered.
thread_local std::uint64_t rest_ms = 0;

}  // namespace

servant::deed servant::deed_of(verb what) {
  static constexpr deed deeds[] = {
      &servant::hello,         &servant::open,          &servant::close,        &servant::allocate,
      &servant::enroll,        &servant::strike,        &servant::fill,         &servant::set,
      &servant::mismatch,      &servant::differs,       &servant::word,         &servant::notice,
      &servant::count_notices, &servant::unread,        &servant::rest,         &servant::watch,
      &servant::glance,        &servant::add,           &servant::cpu_add,      &servant::flood,
      &servant::share,         &servant::crowd,         &servant::open_gates,   &servant::set_gate,
      &servant::connect_gates, &servant::start_barrier, &servant::start_reduce, &servant::poll_gate,
      &servant::leave,         &servant::leave};
  static_assert(std::size(deeds) == std::size_t(verb::count));
  return deeds[std::size_t(what)];
}

reply servant::obey(const request& asked) {
  return (this->*deed_of(asked.what))(asked);
}

bool servant::serve(way& to_master, double seconds_idle) {
  request asked;
  while (to_master.receive(&asked, sizeof asked, seconds_idle)) {
    if (asked.what == verb::leave || asked.what == verb::go_home) return asked.what == verb::leave;
    reply answer = obey(asked);
    answer.number = asked.number;
    if (!to_master.send(&answer, sizeof answer)) return false;
    if (rest_ms != 0) usleep(unsigned(rest_ms) * 1000);
    rest_ms = 0;
  }
  return false;
}

reply servant::hello(const request&) {
  std::uint8_t place[6] = {};
  reply answer;
  answer.code = utofu_query_my_coords(place);
  std::copy(std::begin(place), std::end(place), answer.values);
  return answer;
}

reply servant::open(const request& asked) {
  const auto tni = utofu_tni_id_t(asked.args[0]);
  if (asked.args[2] == none) {
    vcqs_.emplace_back(tni, asked.args[1]);
  } else {
    vcqs_.push_back(vcq::with_cmp_id(tni, utofu_cmp_id_t(asked.args[2]), asked.args[1]));
  }
  const vcq& made = vcqs_.back();
  const int cq = made.ok() ? made.cq() : -1;
  return {made.made(), {vcqs_.size() - 1, made.id(), std::uint64_t(cq)}};
}

reply servant::close(const request& asked) {
  return {vcqs_[asked.args[0]].close(), {}};
}

reply servant::allocate(const request& asked) {
  memories_.emplace_back(asked.args[0], origin(asked.args[1]));
  return {0, {memories_.size() - 1}};
}

reply servant::enroll(const request& asked) {
  const vcq& with = vcqs_[asked.args[0]];
  unsigned char* const start = memories_[asked.args[1]].at(asked.args[2]);
  const std::uint64_t bytes = asked.args[3], flags = asked.args[4], tag = asked.args[5];
  registrations_.push_back(tag == none
                               ? registration(with, start, bytes, flags)
                               : registration::tagged(with, start, bytes, unsigned(tag), flags));
  const registration& made = registrations_.back();
  return {made.made(), {registrations_.size() - 1, made.stadd()}};
}

reply servant::strike(const request& asked) {
  return {registrations_[asked.args[0]].close(), {}};
}

reply servant::fill(const request& asked) {
  memories_[asked.args[0]].fill(asked.args[1], asked.args[2], asked.args[3]);
  return {};
}

reply servant::set(const request& asked) {
  memories_[asked.args[0]].set(asked.args[1], asked.args[2], int(asked.args[3]));
  return {};
}

reply servant::mismatch(const request& asked) {
  return {0, {memories_[asked.args[0]].mismatch(asked.args[1], asked.args[2], asked.args[3])}};
}

reply servant::differs(const request& asked) {
  return {
      0, {memories_[asked.args[0]].differs_from(asked.args[1], asked.args[2], int(asked.args[3]))}};
}

reply servant::word(const request& asked) {
  return {0, {memories_[asked.args[0]].word(asked.args[1])}};
}

reply servant::notice(const request& asked) {
  const noticed entry = vcqs_[asked.args[0]].next_notice(double(asked.args[1]) / 1000);
  const utofu_mrq_notice& n = entry.notice;
  return {entry.code, {n.notice_type, n.vcq_id, n.edata, n.rmt_value, n.lcl_stadd, n.rmt_stadd}};
}

reply servant::count_notices(const request& asked) {
  vcq& of = vcqs_[asked.args[0]];
  std::uint64_t got = 0, disorder = none;
  std::int64_t failure = 0;
  while (got < asked.args[1]) {
    const noticed entry = of.next_notice(double(asked.args[2]) / 1000);
    if (entry.code == UTOFU_ERR_NOT_FOUND) break;
    if (entry.code != UTOFU_SUCCESS && failure == 0) failure = entry.code;
    if (entry.notice.edata != (got & 255) && disorder == none) disorder = got;
    ++got;
  }
  return {failure, {got, disorder}};
}

reply servant::unread(const request& asked) {
  std::size_t tcq = 0, mrq = 0;
  const int code = utofu_query_num_unread_tcq(vcqs_[asked.args[0]].hdl(), &tcq);
  const int other = utofu_query_num_unread_mrq(vcqs_[asked.args[0]].hdl(), &mrq);
  return {code != 0 ? code : other, {tcq, mrq}};
}

reply servant::rest(const request& asked) {
  rest_ms = asked.args[0];
  return {};
}

reply servant::leave(const request&) {
  return {};
}

}  // namespace conformance
