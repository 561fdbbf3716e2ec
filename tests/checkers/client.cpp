// SPDX-License-Identifier: BSD-3-Clause
// client.cpp - a program as users write it, which runs under memory and thread checkers beside an
// ordinary library. None of them may complain, unless it is told to make a mistake: "overrun" reads
// behind its own memory, "race" writes a word from two threads.
#include <heddle/heddle.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <thread>
#include <vector>

namespace {

using heddle::rank;
using heddle::status;

constexpr std::array<std::size_t, 4> sizes{8, 3000, 40'000, 600'000};  // eager, fetched, in pieces
constexpr heddle::handler_id note = 3;

std::atomic<int> wrong = 0;
void expect(bool so, const char* what) {
  if (so) return;
  std::fprintf(stderr, "not so: %s\n", what);
  wrong = 1;
}
#define EXPECT(what) expect((what), #what)

std::vector<std::byte> filled(std::size_t bytes, rank by) {
  return std::vector<std::byte>(bytes, static_cast<std::byte>(by + 1));
}

struct job {
  heddle::world world;
  heddle::lane lane{world};
  rank me = world.rank();
  rank next = (me + 1) % world.size(), before = (me + world.size() - 1) % world.size();
};

void messages(job& j, heddle::lane& lane) {
  for (const std::size_t bytes : sizes) {
    const auto out = filled(bytes, j.me);
    auto in = std::make_unique<std::vector<std::byte>>(bytes);
    heddle::flag got;
    EXPECT(lane.try_recv(j.before, 7, *in, got) == status::posted);
    EXPECT(lane.send(j.next, 7, out) == status::done);
    EXPECT(lane.wait(got) == status::done);
    EXPECT(*in == filled(bytes, j.before));
  }
}

void memory(job& j) {
  for (const std::size_t bytes : sizes) {
    auto own = filled(bytes, j.me);
    const auto mine = j.world.expose_symmetric(std::span(own));
    const auto shared = j.world.symmetric<std::byte>(bytes);
    std::vector<std::byte> got(bytes);
    EXPECT(j.lane.get(got, mine.at(j.next)) == status::done);
    EXPECT(got == filled(bytes, j.next));
    EXPECT(j.lane.put(got, shared.at(j.next)) == status::done);
    EXPECT(heddle::barrier(j.lane) == status::done);
    EXPECT(shared.local()[bytes - 1] == static_cast<std::byte>(j.me + 1));
    j.world.barrier();
  }
}

void counted(job& j) {
  const auto words = j.world.symmetric<std::uint64_t>(2);
  std::uint64_t old = 0;
  for (int i = 0; i < 100; ++i)
    EXPECT(j.lane.fetch_add(words.at(0), std::uint64_t{1}, old) == status::done);
  const auto there = words.mapped_memory(j.next);
  EXPECT(heddle::barrier(j.lane) == status::done);
  if (!there.empty()) there[1] = static_cast<std::uint64_t>(j.me) + 1;
  EXPECT(heddle::barrier(j.lane) == status::done);
  EXPECT(there.empty() || words.local()[1] == static_cast<std::uint64_t>(j.before) + 1);
  EXPECT(j.lane.get(old, words.at(0)) == status::done);
  EXPECT(old == 100 * static_cast<std::uint64_t>(j.world.size()));
  j.world.barrier();
}

/// What a handler writes without a lock is read where a message or a barrier has come after it.
struct heard {
  std::vector<std::byte> payload;
  int times = 0;
};
void hear(void* context, heddle::lane& here, const heddle::call_message& m) noexcept {
  auto& h = *static_cast<heard*>(context);
  h.payload.assign(m.payload.begin(), m.payload.end());
  ++h.times;
  (void)here.try_send({m.source, m.lane}, 9, {});  // one at a time: there is room
}

void calls(job& j, heard& h) {
  for (const std::size_t bytes : sizes) {
    EXPECT(j.lane.call(j.next, note, {}, filled(bytes, j.me)) == status::done);
    EXPECT(j.lane.recv(j.next, 9, {}).code == status::done);  // the handler has run there
    EXPECT(heddle::barrier(j.lane) == status::done);
    EXPECT(h.payload == filled(bytes, j.before));
    EXPECT(heddle::barrier(j.lane) == status::done);  // before the next one comes
  }
  EXPECT(h.times == static_cast<int>(sizes.size()));
}

void ends(job& j) {
  heddle::counter ended;
  heddle::completion_queue queue(4);
  int called = 0;
  heddle::callback count([&](const heddle::outcome&) { ++called; });
  std::array<std::uint64_t, 3> in{};
  const std::uint64_t out = 5;
  const auto bytes_of = [&](std::size_t i) { return std::as_writable_bytes(std::span(&in[i], 1)); };
  EXPECT(j.lane.try_recv(j.before, 11, bytes_of(0), ended) == status::posted);
  EXPECT(j.lane.try_recv(j.before, 12, bytes_of(1), queue.with(4)) == status::posted);
  EXPECT(j.lane.try_recv(j.before, 13, bytes_of(2), count) == status::posted);
  for (const heddle::tag t : {13, 12, 11})
    EXPECT(j.lane.send(j.next, t, std::as_bytes(std::span(&out, 1))) == status::done);
  EXPECT(j.lane.wait(ended, 1) == status::done);
  j.lane.wait(queue, 1);
  heddle::completion_queue::entry e;
  EXPECT(queue.try_pop(e) && e.cookie == 4);
  EXPECT(heddle::barrier(j.lane) == status::done);
  EXPECT(in[0] + in[1] + in[2] == 15 && called == 1);
}

void collectives(job& j) {
  std::vector<double> in(5000, 1.5), out(5000);
  EXPECT(heddle::allreduce(j.lane, std::span<const double>(in), std::span(out),
                           heddle::reduce_op::sum) == status::done);
  EXPECT(out[4999] == 1.5 * j.world.size());
}

int make_mistake(std::string_view which) {
  if (which == "overrun") {
    const std::unique_ptr<volatile char[]> memory(new char[8]());
    return memory[std::strtol("8", nullptr, 10)] == 'x' ? 5 : 0;
  }
  if (which == "race") {
    int word = 0;
    std::thread other([&] { ++word; });
    ++word;
    other.join();
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) try {
  heard h;
  job j;
  j.world.set_handler(note, hear, &h);
  j.world.barrier();
  heddle::lane second(j.world);
  std::thread other([&] { messages(j, second); });
  messages(j, j.lane);
  other.join();
  memory(j);
  counted(j);
  calls(j, h);
  ends(j);
  collectives(j);
  j.world.barrier();
  if (count > 1) return make_mistake(arguments[1]);
  return wrong;
} catch (const heddle::error& why) {
  std::fprintf(stderr, "client: %s\n", why.what());
  return 1;
}
