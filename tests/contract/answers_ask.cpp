// SPDX-License-Identifier: BSD-3-Clause
#include "contract/answers_ask.h"

#include <gtest/gtest.h>

#include <array>
#include <chrono>
#include <map>

namespace heddle::test {
namespace {

constexpr auto sum = reduce_op::sum;
constexpr std::size_t items = 4;  // of a collective's block
constexpr std::chrono::milliseconds limit(1);

std::span<const std::byte> data(const question& q) {
  return q.from.first(q.row.bytes);
}
std::span<std::byte> buffer(const question& q) {
  return q.into.first(q.row.bytes);
}
std::span<const std::byte> header(const question& q) {
  return q.from.first(q.row.header);
}
std::span<const std::uint64_t> input(const question& q, std::size_t blocks = 1) {
  return {reinterpret_cast<const std::uint64_t*>(q.from.data()), blocks * items};
}
std::span<std::uint64_t> output(const question& q, std::size_t blocks = 1) {
  return {reinterpret_cast<std::uint64_t*>(q.into.data()), blocks * items + q.row.too_long_by};
}
remote_ptr<std::uint64_t> word_at(const question& q) {
  return {q.at};
}
remote_ptr<std::uint32_t> half_at(const question& q) {
  return {q.at};
}
std::uint64_t& old_word(const question& q) {
  return *reinterpret_cast<std::uint64_t*>(q.into.data());
}
std::uint32_t& old_half(const question& q) {
  return *reinterpret_cast<std::uint32_t*>(q.into.data());
}

status probe(const question& q) {
  outcome found{.code = status::posted, .peer = 9, .tag = 9, .bytes = 9};
  const status answer = q.on.try_probe(q.row.peer, q.row.matching, found);
  const bool written = found.code != status::posted || found.bytes != 9;
  EXPECT_EQ(written, answer == status::done) << "what probe says of a message";
  return answer;
}

status combine_floats(const question& q) {
  constexpr std::array<double, items> in{};
  const std::span out(reinterpret_cast<double*>(q.into.data()), items);
  return allreduce(q.on, in, out, reduce_op::bit_and);
}

const std::map<action, forms> accesses{
    {action::put,
     {[](const question& q, completion c) { return q.on.try_put(data(q), q.at, c); },
      [](const question& q) { return q.on.put(data(q), q.at); }}},
    {action::put_notify,
     {[](const question& q, completion c) {
        return q.on.try_put_notify(data(q), q.at, q.row.handler, 5, c);
      },
      nullptr}},
    {action::put_signal,
     {[](const question& q, completion c) {
        return q.on.try_put_signal(data(q), q.at, atomic_op::add, word_at(q), 5, c);
      },
      [](const question& q) {
        return q.on.put_signal(data(q), q.at, atomic_op::swap, word_at(q), 5);
      }}},
    {action::get,
     {[](const question& q, completion c) { return q.on.try_get(buffer(q), q.at, c); },
      [](const question& q) { return q.on.get(buffer(q), q.at); }}},
    {action::fetch_add,
     {[](const question& q, completion c) {
        return q.on.try_fetch_add(word_at(q), std::uint64_t{1}, old_word(q), c);
      },
      [](const question& q) { return q.on.fetch_add(word_at(q), std::uint64_t{1}, old_word(q)); }}},
    {action::compare_swap,
     {[](const question& q, completion c) {
        return q.on.try_compare_swap(half_at(q), 1u, 2u, old_half(q), c);
      },
      [](const question& q) {
        return q.on.fetch_atomic(atomic_op::compare_swap, half_at(q), 2u, old_half(q), 1u);
      }}},
    {action::add,
     {[](const question& q, completion c) { return q.on.try_add(word_at(q), std::uint64_t{1}, c); },
      nullptr}}};

const std::map<action, forms> messages{
    {action::send,
     {[](const question& q, completion c) {
        return q.on.try_send(q.row.peer, q.row.matching.value, data(q), c);
      },
      [](const question& q) { return q.on.send(q.row.peer, q.row.matching.value, data(q)); }}},
    {action::recv,
     {[](const question& q, completion c) {
        return q.on.try_recv(q.row.peer, q.row.matching, buffer(q), c);
      },
      [](const question& q) { return q.on.recv(q.row.peer, q.row.matching, buffer(q)).code; }}},
    {action::probe, {[](const question& q, completion) { return probe(q); }, nullptr}},
    {action::cancel,
     {[](const question& q, completion) { return q.on.try_cancel(q.which); }, nullptr}},
    {action::call,
     {[](const question& q, completion c) {
        return q.on.try_call(q.row.peer, q.row.handler, header(q), data(q), c);
      },
      [](const question& q) { return q.on.call(q.row.peer, q.row.handler, header(q), data(q)); }}},
    {action::flush,
     {[](const question& q, completion c) { return q.on.try_flush(q.row.peer, c); },
      [](const question& q) { return q.on.flush(q.row.peer); }}},
    {action::fence,
     {[](const question& q, completion c) { return q.on.try_fence(q.row.peer, c); },
      [](const question& q) { return q.on.fence(q.row.peer); }}},
    {action::recv_for,
     {nullptr,
      [](const question& q) {
        return q.on.recv_for(q.row.peer, q.row.matching, buffer(q), limit).code;
      }}},
    {action::match_for,
     {nullptr,
      [](const question& q) {
        matched_message none;
        return q.on.match_for(q.row.peer, q.row.matching, none, limit).code;
      }}},
    {action::flush_for,
     {nullptr, [](const question& q) { return q.on.flush_for(q.row.peer, limit); }}}};

const std::map<action, forms> collectives{
    {action::broadcast,
     {[](const question& q, completion c) { return try_broadcast(q.on, output(q), q.row.peer, c); },
      [](const question& q) { return broadcast(q.on, output(q), q.row.peer); }}},
    {action::reduce,
     {[](const question& q, completion c) {
        return try_reduce(q.on, input(q), output(q), sum, q.row.peer, c);
      },
      [](const question& q) { return reduce(q.on, input(q), output(q), sum, q.row.peer); }}},
    {action::allreduce,
     {[](const question& q, completion c) {
        return try_allreduce(q.on, input(q), output(q), sum, c);
      },
      [](const question& q) { return allreduce(q.on, input(q), output(q), sum); }}},
    {action::allreduce_floats, {nullptr, combine_floats}},
    {action::gather,
     {[](const question& q, completion c) {
        return try_gather(q.on, input(q), output(q, 2), q.row.peer, c);
      },
      [](const question& q) { return gather(q.on, input(q), output(q, 2), q.row.peer); }}},
    {action::allgather,
     {[](const question& q, completion c) {
        return try_allgather(q.on, input(q), output(q, 2), c);
      },
      [](const question& q) { return allgather(q.on, input(q), output(q, 2)); }}},
    {action::alltoall,
     {[](const question& q, completion c) {
        return try_alltoall(q.on, input(q, 2), output(q, 2), c);
      },
      [](const question& q) { return alltoall(q.on, input(q, 2), output(q, 2)); }}}};

}  // namespace

const forms& forms_of(action asked) {
  if (asked <= action::add) return accesses.at(asked);
  return asked < action::broadcast ? messages.at(asked) : collectives.at(asked);
}

bool can_be_asked(const answer_row&) {
  return true;
}

}  // namespace heddle::test
