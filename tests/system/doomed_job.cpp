// SPDX-License-Identifier: BSD-3-Clause
// doomed_job.cpp - a job of three ranks in which rank 1 dies or stops while rank 0 needs it.
//
// doomed_job kill|stop STEP: rank 0 repeats the operation named by STEP until it ends with
// peer_lost, then exchanges a message with rank 2, for whom nothing has changed. Exits with 0 when
// all that happened within the time allowed, otherwise says what did not.
#include <heddle/heddle.h>
#include <heddle/info.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <map>
#include <string>
#include <thread>
#include <vector>

namespace {

using namespace std::chrono_literals;
using heddle::status;

constexpr std::size_t large = 4 << 20;
constexpr auto allowed = 20s;  // far above the peer time-out the test sets

struct scene {
  heddle::world& world;
  heddle::lane& lane;
  heddle::remote_region doomed;  // plain memory of rank 1
  pid_t doomed_process;
  std::vector<std::byte> buffer = std::vector<std::byte>(large);
};

std::span<std::byte> bytes_of(auto& value) {
  return std::as_writable_bytes(std::span(&value, 1));
}

/// Starts the operation; answers with its status when it ended at once.
using step = std::function<status(scene&, heddle::completion)>;

const std::map<std::string, step> steps{
    {"receive", [](scene& s, heddle::completion c) { return s.lane.try_recv(1, 77, s.buffer, c); }},
    {"unmatched_send",
     [](scene& s, heddle::completion c) { return s.lane.try_send(1, 78, s.buffer, c); }},
    {"large_receive",  // rank 1 sends these until it dies
     [](scene& s, heddle::completion c) { return s.lane.try_recv(1, 79, s.buffer, c); }},
    {"put",
     [](scene& s, heddle::completion c) { return s.lane.try_put(s.buffer, s.doomed.at(0), c); }},
    {"get",
     [](scene& s, heddle::completion c) { return s.lane.try_get(s.buffer, s.doomed.at(0), c); }},
    {"atomic",
     [](scene& s, heddle::completion c) {
       return s.lane.try_add(s.doomed.at_item<std::uint64_t>(0), std::uint64_t{1}, c);
     }},
    {"call", [](scene& s, heddle::completion c) { return s.lane.try_call(1, 5, {}, s.buffer, c); }},
};

/// The operation still refers to its flag, so this process ends at once, and says why.
[[noreturn]] void give_up(const scene& s) {
  for (const std::string& told : heddle::ask_worlds(getpid()))
    std::fprintf(stderr, "an operation did not end: %s\n", told.c_str());
  kill(s.doomed_process, SIGKILL);  // a stopped one would keep the job alive
  std::_Exit(1);
}

bool repeat_until_lost(scene& s, const step& attempt) {
  const auto end = std::chrono::steady_clock::now() + allowed;
  while (std::chrono::steady_clock::now() < end) {
    heddle::flag ended;
    status code = attempt(s, ended);
    if (code == status::posted) {
      if (!s.lane.wait_for(ended, allowed)) give_up(s);
      code = ended.result().code;
    }
    if (code == status::peer_lost) return true;
    if (heddle::is_busy(code)) s.lane.poll();
  }
  std::puts("the loss of rank 1 was not noticed");
  return false;
}

void die_soon(int signal) {
  std::thread([signal] {
    std::this_thread::sleep_for(100ms);
    kill(getpid(), signal);
  }).detach();
}

int doomed_rank(scene& s, const std::string& name, int signal) {
  die_soon(signal);
  while (name == "large_receive") (void)s.lane.send(0, 79, s.buffer);
  for (;;) pause();
}

int first_rank(scene& s, const step& attempt) {
  const bool lost = repeat_until_lost(s, attempt);
  kill(s.doomed_process, SIGKILL);  // a stopped one would keep the job alive
  std::uint64_t word = 1;
  if (s.lane.send(2, 1, bytes_of(word)) != status::done) return 1;
  if (s.lane.recv(2, 2, bytes_of(word)).code != status::done) return 1;
  return lost && word == 2 ? 0 : 1;
}

int other_rank(scene& s) {
  std::uint64_t word = 0;
  if (s.lane.recv(0, 1, bytes_of(word)).code != status::done) return 1;
  ++word;
  return s.lane.send(0, 2, bytes_of(word)) == status::done ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3 || !steps.contains(argv[2])) return 2;
  const int signal = std::strcmp(argv[1], "stop") == 0 ? SIGSTOP : SIGKILL;
  heddle::world world;
  heddle::lane lane(world);
  world.set_handler(5, [](void*, heddle::lane&, const heddle::call_message&) noexcept {});
  std::vector<std::byte> memory(large);
  const heddle::region exposed = world.expose(memory);
  auto keys = world.symmetric<heddle::key>(1);
  auto pids = world.symmetric<std::int64_t>(1);
  keys.local()[0] = exposed.key();
  pids.local()[0] = getpid();
  world.barrier();
  heddle::key key;
  std::int64_t doomed = 0;
  if (lane.get(key, keys.at(1)) != status::done) return 1;
  if (lane.get(doomed, pids.at(1)) != status::done) return 1;
  scene s{world, lane, world.import(key), static_cast<pid_t>(doomed)};
  world.barrier();
  if (world.rank() == 1) return doomed_rank(s, argv[2], signal);
  if (world.rank() == 2) return other_rank(s);
  return first_rank(s, steps.at(argv[2]));
}
