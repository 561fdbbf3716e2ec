// SPDX-License-Identifier: BSD-3-Clause
// answers_ask_in_c.cpp - answers_ask.h by the functions of c.h.
#include "contract/answers_ask_in_c.h"

#include <bit>
#include <map>

#include "contract/answers_ask.h"

namespace heddle::test {
namespace {

question_in_c in_c(const question& q) {
  return {.on = reinterpret_cast<heddle_lane*>(&q.on),
          .at = {q.at.target, q.at.offset},
          .from = q.from.data(),
          .into = q.into.data(),
          .bytes = q.row.bytes,
          .header_bytes = q.row.header,
          .peer = q.row.peer,
          .tag = q.row.matching.value,
          .mask = q.row.matching.mask,
          .handler = q.row.handler,
          .which = std::bit_cast<heddle_completion>(q.which)};
}

template <auto Post>
status post(const question& q, completion c) {
  const question_in_c asked = in_c(q);
  return static_cast<status>(Post(&asked, std::bit_cast<heddle_completion>(c)));
}
template <auto Wait>
status wait(const question& q) {
  const question_in_c asked = in_c(q);
  return static_cast<status>(Wait(&asked));
}

const std::map<action, forms> all{
    {action::put, {post<post_put>, wait<wait_put>}},
    {action::put_notify, {post<post_put_notify>, wait<wait_put_notify>}},
    {action::put_signal, {post<post_put_signal>, wait<wait_put_signal>}},
    {action::get, {post<post_get>, wait<wait_get>}},
    {action::fetch_add, {post<post_fetch_add>, wait<wait_fetch_add>}},
    {action::compare_swap, {post<post_compare_swap>, wait<wait_compare_swap>}},
    {action::add, {post<post_add>, wait<wait_add>}},
    {action::send, {post<post_send>, wait<wait_send>}},
    {action::recv, {post<post_recv>, wait<wait_recv>}},
    {action::probe, {post<post_probe>, nullptr}},
    {action::cancel, {post<post_cancel>, nullptr}},
    {action::call, {post<post_call>, wait<wait_call>}},
    {action::flush, {post<post_flush>, wait<wait_flush>}},
    {action::fence, {post<post_fence>, wait<wait_fence>}},
    {action::recv_for, {nullptr, wait<wait_recv_for>}},
    {action::match_for, {nullptr, wait<wait_match_for>}},
    {action::flush_for, {nullptr, wait<wait_flush_for>}},
    {action::broadcast, {post<post_broadcast>, wait<wait_broadcast>}},
    {action::reduce, {post<post_reduce>, wait<wait_reduce>}},
    {action::allreduce, {post<post_allreduce>, wait<wait_allreduce>}},
    {action::allreduce_floats, {nullptr, wait<wait_allreduce_floats>}},
    {action::gather, {post<post_gather>, wait<wait_gather>}},
    {action::allgather, {post<post_allgather>, wait<wait_allgather>}},
    {action::alltoall, {post<post_alltoall>, wait<wait_alltoall>}}};

}  // namespace

const forms& forms_of(action asked) {
  return all.at(asked);
}

/// C names one length for what goes in and what comes out.
bool can_be_asked(const answer_row& row) {
  return row.too_long_by == 0;
}

}  // namespace heddle::test
