// SPDX-License-Identifier: BSD-3-Clause
// network_test.cpp - ranks of unequal speed that make their worlds.
#include "engine/network.h"

#include <gtest/gtest.h>

#include <memory>
#include <semaphore>
#include <thread>
#include <utility>

#include "engine/world_core.h"

namespace heddle::engine {
namespace {

/// Beside a rank that is slow to look at the addresses that it has got.
class paced_session final : public bootstrap::session {
 public:
  paced_session(std::unique_ptr<bootstrap::session> real, std::counting_semaphore<>& quick_went_on)
      : real_(std::move(real)), quick_went_on_(quick_went_on) {}

  [[nodiscard]] const bootstrap::job& info() const noexcept override { return real_->info(); }
  bootstrap::gathered exchange(std::span<const std::byte> mine) override {
    auto all = real_->exchange(mine);
    if (++exchanges_ == 2 && info().rank != 0) quick_went_on_.acquire();
    return all;
  }
  void barrier() override {
    if (info().rank == 0) quick_went_on_.release();
    real_->barrier();
  }
  void joined() override { real_->joined(); }
  void abort(int status, std::string_view why) noexcept override { real_->abort(status, why); }

 private:
  std::unique_ptr<bootstrap::session> real_;
  std::counting_semaphore<>& quick_went_on_;
  int exchanges_ = 0;
};

TEST(Network, IsMadeAlsoWhereAnotherRankEndsItsWorldAtOnce) {
  std::counting_semaphore quick_went_on{0};
  auto sessions = bootstrap::local_group(2);
  settings config;
  config.backends = "shm";
  const auto make = [&](std::size_t rank) {
    const world made(make_world(
        std::make_unique<paced_session>(std::move(sessions[rank]), quick_went_on), config));
  };
  std::thread quick([&] {
    make(0);
    quick_went_on.release();
  });
  EXPECT_NO_THROW(make(1));
  quick.join();
}

}  // namespace
}  // namespace heddle::engine
