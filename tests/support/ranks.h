// SPDX-License-Identifier: BSD-3-Clause
// ranks.h - runs a test body as several ranks of one job, each a thread with a world of its own.
#pragma once
#include <gtest/gtest.h>
#include <heddle/world.h>

#include <cstdlib>
#include <exception>
#include <functional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/settings.h"
#include "bootstrap/bootstrap.h"
#include "engine/world_core.h"
#include "support/pattern.h"

namespace heddle::test {

/// Settings for tests: one backend, its own settings as in the environment, and a peer time-out
/// that tests can wait for.
inline settings settings_for(const std::string& backend) {
  settings s;
  s.others = read_settings().others;
  s.backends = backend;
  s.peer_timeout_ms = 20'000;
  return s;
}

/// Whether the backend verbs has a card here: the software one, whose tests say so.
inline bool has_card() noexcept {
  return std::getenv("SOFTHCA_MODE") != nullptr;
}

/// Calls `body` for every rank, all at once; returns when all have returned. An error thrown by a
/// rank fails the test. Where `launcher_stays` is false, ranks meet over their lanes.
inline void run_ranks(int size, const settings& config,
                      const std::function<void(world& world)>& body, bool launcher_stays = true) {
  auto sessions = bootstrap::local_group(size, launcher_stays);
  std::vector<std::thread> ranks;
  for (auto& session : sessions) {
    ranks.emplace_back([&, s = std::move(session)]() mutable {
      try {
        world w(engine::make_world(std::move(s), config));
        body(w);
        w.barrier();
      } catch (const std::exception& e) {
        ADD_FAILURE() << e.what();
      }
    });
  }
  for (std::thread& t : ranks) t.join();
}

}  // namespace heddle::test
