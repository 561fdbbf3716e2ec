// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/rank_ops.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "fuzz/model.h"
#include "support/pattern.h"

namespace heddle::fuzz {
namespace {

using bytes = std::span<std::byte>;

constexpr std::byte untouched{0xa5};

std::uint64_t pattern_of(const step& s) {
  return static_cast<std::uint64_t>(s.id);
}
/// What `from` gives to `to` in a collective.
std::uint64_t block_pattern(const step& s, int from, int to) {
  return (pattern_of(s) << 16) + static_cast<std::uint64_t>(from * 16 + to);
}
std::size_t size(std::uint64_t n) {
  return static_cast<std::size_t>(n);
}

std::vector<std::byte> call_bytes(const step& s, std::size_t length, std::uint64_t which) {
  std::vector<std::byte> made = test::pattern(length, which);
  const std::int32_t id = s.id;
  if (length >= sizeof(id)) std::memcpy(made.data(), &id, sizeof(id));
  return made;
}
std::vector<std::byte> header_bytes(const step& s) {
  return call_bytes(s, static_cast<std::size_t>(s.header), ~pattern_of(s));
}

// --- collectives --------------------------------------------------------------------------------

bool is_reduction(verb v) {
  return v == verb::reduce || v == verb::allreduce;
}

/// Blocks of s.bytes each: for every rank its own, or one.
std::vector<std::byte> given_blocks(const step& s, int rank, int ranks) {
  std::vector<std::byte> made;
  const std::vector<int> to_all = members_of(s, rank, ranks);
  const std::size_t blocks = s.what == verb::alltoall ? to_all.size() : 1;
  for (std::size_t i = 0; i < blocks; ++i) {
    const int to = s.what == verb::alltoall ? to_all[i] : 0;
    const auto block = test::pattern(size(s.bytes), block_pattern(s, rank, to));
    made.insert(made.end(), block.begin(), block.end());
  }
  return made;
}

std::vector<std::byte> given_items(const step& s, int rank) {
  std::vector<std::byte> made(size(s.bytes) / 8 * 8);
  for (std::size_t i = 0; i < made.size() / 8; ++i) {
    const std::uint64_t item = item_of(s, rank, i);
    std::memcpy(made.data() + i * 8, &item, 8);
  }
  return made;
}

/// -1: none of its members.
int root_rank(const step& s, int rank, int ranks) {
  const std::vector<int> all = members_of(s, rank, ranks);
  const auto root = static_cast<std::size_t>(root_of(s, rank, ranks));
  return root < all.size() ? all[root] : -1;
}

void prepare_collective(slot& s, int rank, int ranks) {
  const step& what = *s.what;
  if (what.what == verb::barrier) return;
  if (is_reduction(what.what)) {
    s.data = given_items(what, rank);
    s.result.assign(s.data.size(), untouched);
    return;
  }
  s.data = given_blocks(what, rank, ranks);
  if (what.what == verb::broadcast && rank != root_rank(what, rank, ranks))
    std::fill(s.data.begin(), s.data.end(), untouched);
  if (what.what != verb::broadcast)
    s.result.assign(size(what.bytes) * members_of(what, rank, ranks).size(), untouched);
}

/// Calls `use` with a span of items; buffers from new are aligned for them.
std::span<std::uint64_t> items(std::vector<std::byte>& data) {
  return {reinterpret_cast<std::uint64_t*>(data.data()), data.size() / 8};
}

/// What the collective must have left at `rank`.
std::vector<std::byte> expected_blocks(const step& s, int rank, int ranks) {
  if (s.what == verb::broadcast)
    return test::pattern(size(s.bytes), block_pattern(s, root_rank(s, rank, ranks), 0));
  std::vector<std::byte> made;
  for (const int from : members_of(s, rank, ranks)) {
    const int to = s.what == verb::alltoall ? rank : 0;
    const auto block = test::pattern(size(s.bytes), block_pattern(s, from, to));
    made.insert(made.end(), block.begin(), block.end());
  }
  return made;
}

std::vector<std::byte> expected_items(const step& s, int rank, int ranks) {
  const std::vector<int> members = members_of(s, rank, ranks);
  std::vector<std::byte> made(size(s.bytes) / 8 * 8);
  for (std::size_t i = 0; i < made.size() / 8; ++i) {
    const std::uint64_t item = reduced(s, members, i);
    std::memcpy(made.data() + i * 8, &item, 8);
  }
  return made;
}

std::uint64_t difference(std::span<const std::byte> a, std::span<const std::byte> b) {
  const auto at = std::mismatch(a.begin(), a.end(), b.begin(), b.end());
  if (at.first == a.end() && at.second == b.end()) return 0;
  return static_cast<std::uint64_t>(at.first - a.begin()) + 1;
}

void inspect_collective(const plan& p, slot& s, int rank) {
  const step& what = *s.what;
  const bool only_root = what.what == verb::reduce || what.what == verb::gather;
  if (what.what == verb::barrier || (only_root && rank != root_rank(what, rank, p.ranks))) return;
  const auto& got = what.what == verb::broadcast ? s.data : s.result;
  s.facts->wrong = difference(got, is_reduction(what.what) ? expected_items(what, rank, p.ranks)
                                                           : expected_blocks(what, rank, p.ranks));
}

any_group members(lane& on, slot& s) {
  return s.members != nullptr ? any_group(*s.members) : any_group(on);
}
int root(const lane& on, const step& s) {
  return root_of(s, on.self(), on.ranks());
}

status post_collective(lane& l, slot& s, const completion& c) {
  const step& what = *s.what;
  const any_group on = members(l, s);
  const auto op = static_cast<reduce_op>(what.op);
  const bytes out(s.result), in(s.data);
  switch (what.what) {
    case verb::barrier:
      return try_barrier(on, c);
    case verb::broadcast:
      return try_broadcast(on, in, root(l, what), c);
    case verb::reduce:
      return try_reduce(on, items(s.data), items(s.result), op, root(l, what), c);
    case verb::allreduce:
      return try_allreduce(on, items(s.data), items(s.result), op, c);
    case verb::gather:
      return try_gather(on, in, out, root(l, what), c);
    case verb::allgather:
      return try_allgather(on, in, out, c);
    default:
      return try_alltoall(on, in, out, c);
  }
}

status block_collective(lane& l, slot& s) {
  const step& what = *s.what;
  const any_group on = members(l, s);
  const auto op = static_cast<reduce_op>(what.op);
  const bytes out(s.result), in(s.data);
  switch (what.what) {
    case verb::barrier:
      return barrier(on);
    case verb::broadcast:
      return broadcast(on, in, root(l, what));
    case verb::reduce:
      return reduce(on, items(s.data), items(s.result), op, root(l, what));
    case verb::allreduce:
      return allreduce(on, items(s.data), items(s.result), op);
    case verb::gather:
      return gather(on, in, out, root(l, what));
    case verb::allgather:
      return allgather(on, in, out);
    default:
      return alltoall(on, in, out);
  }
}

task<status> await_collective(async_lane l, slot& s) {
  const step& what = *s.what;
  const async_group on = members(l.base(), s);
  const auto op = static_cast<reduce_op>(what.op);
  const bytes out(s.result), in(s.data);
  switch (what.what) {
    case verb::barrier:
      co_return co_await barrier(on);
    case verb::broadcast:
      co_return co_await broadcast(on, in, root(l.base(), what));
    case verb::reduce:
      co_return co_await reduce(on, items(s.data), items(s.result), op, root(l.base(), what));
    case verb::allreduce:
      co_return co_await allreduce(on, items(s.data), items(s.result), op);
    case verb::gather:
      co_return co_await gather(on, in, out, root(l.base(), what));
    case verb::allgather:
      co_return co_await allgather(on, in, out);
    default:
      co_return co_await alltoall(on, in, out);
  }
}

// --- atomics ------------------------------------------------------------------------------------

/// Calls `use` with typed arguments of the step's width.
template <class Use>
auto typed(slot& s, remote_address at, Use&& use) {
  const step& what = *s.what;
  const auto op = static_cast<atomic_op>(what.op);
  if (what.width == 4)
    return use(op, remote_ptr<std::uint32_t>{at}, static_cast<std::uint32_t>(what.operand),
               reinterpret_cast<std::uint32_t*>(&s.old), static_cast<std::uint32_t>(what.compare));
  return use(op, remote_ptr<std::uint64_t>{at}, what.operand, &s.old, what.compare);
}

// --- blocks -------------------------------------------------------------------------------------

/// A few blocks of different sizes, empty ones too, that are `whole` together.
template <class Byte>
std::vector<std::span<Byte>> cut(const step& s, std::span<Byte> whole) {
  std::vector<std::span<Byte>> all;
  std::uint64_t draw = pattern_of(s);
  while (all.size() < 8 && !whole.empty()) {
    draw = draw * 6364136223846793005 + 1442695040888963407;
    const std::size_t n = (draw >> 33) % (whole.size() + 1);
    all.push_back(whole.first(n));
    whole = whole.subspan(n);
  }
  all.push_back(whole);
  return all;
}

/// Lists what a call of blocks is given: it may be asked again while it is busy.
void list_blocks(slot& s, remote_address at) {
  const step& what = *s.what;
  s.puts.clear(), s.gets.clear();
  s.given = cut(what, std::span<const std::byte>(s.data));
  s.taken = cut(what, std::span<std::byte>(s.data));
  std::uint64_t offset = at.offset;
  for (std::size_t i = 0; i < s.given.size(); ++i) {
    s.puts.push_back({s.given[i], {at.target, offset}});
    s.gets.push_back({s.taken[i], {at.target, offset}});
    offset += s.given[i].size();
  }
}

}  // namespace

void prepare(slot& s, int rank, int ranks) {
  const step& what = *s.what;
  const std::size_t n = size(what.bytes);
  switch (what.what) {
    case verb::put:
    case verb::put_notify:
    case verb::send:
      s.data = test::pattern(n, pattern_of(what));
      break;
    case verb::get:
    case verb::recv:
      s.data.assign(n, untouched);
      break;
    case verb::call:
      s.header = header_bytes(what);
      s.data = call_bytes(what, n, pattern_of(what));
      break;
    default:
      break;
  }
  if (is_collective(what.what)) prepare_collective(s, rank, ranks);
}

destination target(const step& s) {
  return {s.peer, s.to_lane};
}

namespace {

status post_blocks(lane& on, slot& s, const completion& c) {
  const step& what = *s.what;
  switch (what.what) {
    case verb::put:
      return try_put_blocks(on, s.puts, c);
    case verb::get:
      return try_get_blocks(on, s.gets, c);
    case verb::send:
      return try_send_blocks(on, target(what), what.tag, s.given, c);
    case verb::recv:
      return try_recv_blocks(on, what.peer, {what.tag, what.mask}, s.taken, c);
    default:
      return try_call_blocks(on, target(what), s.handler, s.header, s.given, c);
  }
}

outcome block_blocks(lane& on, slot& s) {
  const step& what = *s.what;
  switch (what.what) {
    case verb::put:
      return {.code = put_blocks(on, s.puts)};
    case verb::get:
      return {.code = get_blocks(on, s.gets)};
    case verb::send:
      return {.code = send_blocks(on, target(what), what.tag, s.given)};
    case verb::recv:
      return recv_blocks(on, what.peer, {what.tag, what.mask}, s.taken);
    default:
      return {.code = call_blocks(on, target(what), s.handler, s.header, s.given)};
  }
}

task<outcome> await_blocks(async_lane on, slot& s) {
  const step& what = *s.what;
  outcome how;
  switch (what.what) {
    case verb::put:
      how.code = co_await on.put_blocks(s.puts);
      break;
    case verb::get:
      how.code = co_await on.get_blocks(s.gets);
      break;
    case verb::send:
      how.code = co_await on.send_blocks(target(what), what.tag, s.given);
      break;
    case verb::recv:
      co_return co_await on.recv_blocks(what.peer, {what.tag, what.mask}, s.taken);
    default:
      how.code = co_await on.call_blocks(target(what), s.handler, s.header, s.given);
      break;
  }
  co_return how;
}

/// Short enough to pass now and then.
std::chrono::microseconds limit_of(const step& s) {
  return std::chrono::microseconds(s.id * 37 % 500);
}

/// Taken back and posted again until it has come.
outcome block_limited(lane& on, slot& s) {
  const step& what = *s.what;
  outcome how;
  do how = on.recv_for(what.peer, {what.tag, what.mask}, s.data, limit_of(what));
  while (how.code == status::timed_out);
  return how;
}

outcome block_matched(lane& on, slot& s) {
  const step& what = *s.what;
  const outcome found = on.match(what.peer, {what.tag, what.mask}, s.message);
  return found.code == status::done ? on.recv(s.message, s.data) : found;
}

task<outcome> await_matched(async_lane on, slot& s) {
  const step& what = *s.what;
  const outcome found = co_await on.match(what.peer, {what.tag, what.mask}, s.message);
  if (found.code != status::done) co_return found;
  co_return co_await on.recv(s.message, s.data);
}

}  // namespace

status post(lane& on, const rank_memory& memory, slot& s, const completion& c) {
  const step& what = *s.what;
  if (is_collective(what.what)) return post_collective(on, s, c);
  const remote_address at =
      is_access(what.what) ? memory.at(what.area, what.peer, what.at) : remote_address{};
  if (what.as == form::blocks) {
    list_blocks(s, at);
    return post_blocks(on, s, c);
  }
  switch (what.what) {
    case verb::put:
      return on.try_put(s.data, at, c);
    case verb::get:
      return on.try_get(s.data, at, c);
    case verb::put_notify:
      return on.try_put_notify(s.data, at, notified, pattern_of(what), c);
    case verb::send:
      return on.try_send(target(what), what.tag, s.data, c);
    case verb::recv:
      return on.try_recv(what.peer, {what.tag, what.mask}, s.data, c);
    case verb::call:
      return on.try_call(target(what), s.handler, s.header, s.data, c);
    case verb::flush:
      return what.peer < 0 ? on.try_flush(c) : on.try_flush(what.peer, c);
    case verb::fence:
      return on.try_fence(what.peer, c);
    default:
      break;
  }
  return typed(s, at, [&](atomic_op op, auto place, auto operand, auto* old, auto compare) {
    return on.try_atomic(op, place, operand, fetches(what) ? old : nullptr, c, compare);
  });
}

status order(lane& on, const step& s) {
  if (s.as != form::limited) {
    if (s.what == verb::fence) return on.fence(s.peer);
    return s.peer < 0 ? on.flush() : on.flush(s.peer);
  }
  const auto limit = limit_of(s);
  status how = status::timed_out;
  while (how == status::timed_out)
    if (s.what == verb::fence)
      how = on.fence_for(s.peer, limit);
    else
      how = s.peer < 0 ? on.flush_for(limit) : on.flush_for(s.peer, limit);
  return how;
}

outcome block(lane& on, const rank_memory& memory, slot& s) {
  const step& what = *s.what;
  if (is_collective(what.what)) return {.code = block_collective(on, s)};
  const remote_address at =
      is_access(what.what) ? memory.at(what.area, what.peer, what.at) : remote_address{};
  if (what.as == form::matched) return block_matched(on, s);
  if (what.as == form::limited) return block_limited(on, s);
  if (what.as == form::blocks) {
    list_blocks(s, at);
    return block_blocks(on, s);
  }
  switch (what.what) {
    case verb::put:
      return {.code = on.put(s.data, at)};
    case verb::get:
      return {.code = on.get(s.data, at)};
    case verb::send:
      return {.code = on.send(target(what), what.tag, s.data)};
    case verb::recv:
      return on.recv(what.peer, {what.tag, what.mask}, s.data);
    case verb::call:
      return {.code = on.call(target(what), s.handler, s.header, s.data)};
    default:
      break;
  }
  return {.code =
              typed(s, at, [&](atomic_op op, auto place, auto operand, auto* old, auto compare) {
                return on.fetch_atomic(op, place, operand, *old, compare);
              })};
}

namespace {

task<outcome> await_message(async_lane on, slot& s) {
  const step& what = *s.what;
  if (what.what == verb::recv)
    co_return co_await on.recv(what.peer, tag_match{what.tag, what.mask}, s.data);
  outcome how;
  how.code = what.what == verb::send ? co_await on.send(target(what), what.tag, s.data)
                                     : co_await on.call(target(what), s.handler, s.header, s.data);
  co_return how;
}

task<status> await_order(async_lane on, const step& s) {
  if (s.what == verb::fence) co_return co_await on.fence(s.peer);
  if (s.peer < 0) co_return co_await on.flush();
  co_return co_await on.flush(s.peer);
}

task<status> await_access(async_lane on, slot& s, remote_address at) {
  const step& what = *s.what;
  const auto op = static_cast<atomic_op>(what.op);
  if (what.what == verb::put) co_return co_await on.put(s.data, at);
  if (what.what == verb::get) co_return co_await on.get(s.data, at);
  if (what.what == verb::put_notify)
    co_return co_await on.put_notify(s.data, at, notified, pattern_of(what));
  if (what.width == 8)
    co_return co_await on.atomic(op, remote_ptr<std::uint64_t>{at}, what.operand, &s.old,
                                 what.compare);
  auto* const old = reinterpret_cast<std::uint32_t*>(&s.old);
  co_return co_await on.atomic(op, remote_ptr<std::uint32_t>{at},
                               static_cast<std::uint32_t>(what.operand), old,
                               static_cast<std::uint32_t>(what.compare));
}

}  // namespace

void spawn(lane& on, const rank_memory& memory, slot& s, const completion& c) {
  const step& what = *s.what;
  if (is_collective(what.what))
    heddle::spawn(await_collective(async_lane(on), s), c);
  else if (orders(what.what))
    heddle::spawn(await_order(async_lane(on), what), c);
  else if (what.as == form::matched)
    heddle::spawn(await_matched(async_lane(on), s), c);
  else if (what.as == form::blocks) {
    list_blocks(s,
                is_access(what.what) ? memory.at(what.area, what.peer, what.at) : remote_address{});
    heddle::spawn(await_blocks(async_lane(on), s), c);
  } else if (is_access(what.what))
    heddle::spawn(await_access(async_lane(on), s, memory.at(what.area, what.peer, what.at)), c);
  else
    heddle::spawn(await_message(async_lane(on), s), c);
}

namespace {

void inspect_receive(slot& s) {
  record& r = *s.facts;
  r.peer = s.how.peer;
  r.lane = s.how.lane;
  r.tag = s.how.tag;
  r.bytes = s.how.bytes;
  if (r.code != status::done && r.code != status::truncated) return;
  const std::size_t n = std::min<std::size_t>(s.how.bytes, s.data.size());
  r.value = digest(std::span(s.data).first(n));
  const bytes rest = std::span(s.data).subspan(n);
  if (!test::all_are(rest, untouched) || (!rest.empty() && rest[0] != untouched)) r.wrong = n + 1;
}

void inspect_get(const plan& p, const board& facts, slot& s) {
  const step& what = *s.what;
  const auto succeeded = [&](const step& put) {
    const record& r = facts.of(put.id, put.rank);
    return r.at == stage::ended && r.code == status::done;
  };
  const auto index = static_cast<std::size_t>(&what - p.steps.data());
  const auto expected = contents(p, *p.find_area(what.area), what.peer, index, succeeded);
  const auto wrong = first_wrong(expected, s.data, what.at);
  s.facts->wrong = wrong ? *wrong - what.at + 1 : 0;
}

}  // namespace

void inspect(const plan& p, const board& facts, const rank_memory&, slot& s, int rank) {
  if (s.what->what == verb::recv) return inspect_receive(s);
  if (s.facts->code != status::done) return;
  if (s.what->what == verb::get) inspect_get(p, facts, s);
  if (s.what->what == verb::atomic) s.facts->value = s.old;
  if (is_collective(s.what->what)) inspect_collective(p, s, rank);
}

int step_of(const call_message& m) {
  const auto& from = m.header.size() >= 4 ? m.header : m.payload;
  std::int32_t id = -1;
  if (from.size() >= sizeof(id)) std::memcpy(&id, from.data(), sizeof(id));
  return id;
}

bool is_as_sent(const step& s, const call_message& m) {
  const auto header = header_bytes(s);
  const auto payload = call_bytes(s, size(s.bytes), pattern_of(s));
  return std::ranges::equal(m.header, header) && std::ranges::equal(m.payload, payload);
}

}  // namespace heddle::fuzz
