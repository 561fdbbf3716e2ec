// SPDX-License-Identifier: BSD-3-Clause
// active_message.cpp - runs a function on every other rank, with a header and a payload.
//   heddle run -n 4 -- active_message
#include <heddle/heddle.h>

#include <cstdio>
#include <cstring>
#include <span>
#include <vector>

constexpr heddle::handler_id add_up = 1;

struct inbox {
  std::vector<long> sum;    // by sender: handlers may run on several threads at the same time
  heddle::counter arrived;  // what a handler wrote is visible to whoever has seen it counted
};

// Runs at the target: adds the numbers of the payload, scaled by the header.
void on_add_up(void* context, heddle::lane&, const heddle::call_message& message) noexcept {
  auto& box = *static_cast<inbox*>(context);
  int scale = 0;
  std::memcpy(&scale, message.header.data(), sizeof scale);
  std::vector<int> numbers(message.payload.size() / sizeof(int));
  std::memcpy(numbers.data(), message.payload.data(), message.payload.size());
  for (const int number : numbers) box.sum[static_cast<std::size_t>(message.source)] += number;
  box.sum[static_cast<std::size_t>(message.source)] *= scale;
  static_cast<heddle::completion>(box.arrived)({});
}

int main() try {
  heddle::world world;
  heddle::lane lane(world);
  const auto ranks = static_cast<std::size_t>(world.size());
  inbox box{std::vector<long>(ranks), {}};
  world.set_handler(add_up, on_add_up, &box);
  world.barrier();  // everybody's handler is set

  const int scale = world.rank() + 1;
  const std::vector<int> numbers{1, 2, 3, 4};
  for (int to = 0; to < world.size(); ++to) {
    const auto answer = lane.call(to, add_up, std::as_bytes(std::span(&scale, 1)),
                                  std::as_bytes(std::span(numbers)));
    if (answer != heddle::status::done) return 1;
  }
  if (lane.wait(box.arrived, ranks) != heddle::status::done) return 1;

  for (std::size_t from = 0; from < ranks; ++from) {
    if (box.sum[from] != 10 * (static_cast<long>(from) + 1)) return 1;
  }
  if (world.rank() == 0) std::printf("%zu messages, all handled\n", ranks * ranks);
  world.barrier();
  return 0;
} catch (const heddle::error& reason) {
  std::fprintf(stderr, "active_message: %s\n", reason.what());
  return 1;
}
