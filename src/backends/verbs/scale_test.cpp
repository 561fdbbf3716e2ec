// SPDX-License-Identifier: BSD-3-Clause
// scale_test.cpp - what a lane keeps for a thousand peers, in bytes from malloc. Four processes
// play the peers. What the software card keeps for as many queue pairs is measured alone and taken
// off.
#include "support/scale.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <softhca.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <memory>
#include <numeric>
#include <vector>

#include "backends/registry.h"
#include "backends/verbs/handles.h"
#include "base/error.h"
#include "support/heap.h"
#include "support/ranks_on_softhca.h"
#include "transport/device.h"

namespace heddle::test {
namespace {

using transport::verbs::handle;

constexpr int processes = 4, each = 250, peers = processes * each;
constexpr std::array<std::byte, 32> secret{};
using address_bytes = std::array<std::byte, 64>;

/// A rank: its device and one lane.
class member {
 public:
  explicit member(rank self) : config_(read_settings()) {
    for (const transport::backend& b : transport::known_backends(config_))
      if (b.name == "verbs") {
        const transport::factory& f = b.get();
        device_ =
            std::move(f.open(f, {self, peers + 1, 1, secret, &config_, nullptr}).at(0).device);
      }
    lane_ = device_->make_endpoint(0);
  }
  [[nodiscard]] address_bytes address() const {
    address_bytes fixed{};
    const auto bytes = device_->address();
    if (bytes.size() != fixed.size()) throw error("an address has another size");
    std::copy(bytes.begin(), bytes.end(), fixed.begin());
    return fixed;
  }
  void know(rank r, const address_bytes& a) { EXPECT_EQ(device_->add_peer(r, a, false), ""); }
  /// A message of no bytes. True: it is on its way.
  bool says_hello_to(rank r) {
    return lane_->send(*lane_->reach(r, 0), {}, {}, {}) == status::done || connects_to(r);
  }
  /// The messages that have come.
  std::size_t move() {
    (void)device_->serve();
    std::array<transport::event, 64> some;
    std::size_t came = 0;
    const std::size_t count = lane_->poll(some);
    for (std::size_t i = 0; i < count; ++i)
      came += some.at(i).kind == transport::event::kind_t::arrived ? 1 : 0;
    return came;
  }

 private:
  bool connects_to(rank r) {
    transport::op o;
    o.to = lane_->reach(r, 0);
    return lane_->post(o) == status::done;
  }

  settings config_;
  std::unique_ptr<transport::device> device_;
  std::unique_ptr<transport::endpoint> lane_;
};

/// One process of peers, which each send rank 0 a message, until `wire` is closed.
void play_peers(rank first, int wire) {
  std::vector<std::unique_ptr<member>> all;
  for (rank r = first; r < first + each; ++r) {
    all.push_back(std::make_unique<member>(r));
    const address_bytes mine = all.back()->address();
    if (::write(wire, mine.data(), mine.size()) != ssize_t{sizeof mine}) return;
  }
  address_bytes theirs{};
  if (::read(wire, theirs.data(), theirs.size()) != ssize_t{sizeof theirs}) return;
  for (const auto& one : all) one->know(0, theirs);
  std::vector<bool> said(all.size());
  for (pollfd end{wire, POLLIN, 0}; ::poll(&end, 1, 0) == 0;)
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (!said[i]) said[i] = all[i]->says_hello_to(0);
      (void)all[i]->move();
    }
}

class peer_process {
 public:
  explicit peer_process(rank first) {
    std::array<int, 2> ends{};
    if (::socketpair(AF_UNIX, SOCK_STREAM, 0, ends.data()) != 0) throw error("socketpair");
    pid_ = fork();
    if (pid_ == 0) {
      ::close(ends[0]);
      play_peers(first, ends[1]);
      std::_Exit(0);
    }
    ::close(ends[1]);
    wire = ends[0];
  }
  ~peer_process() {
    ::shutdown(wire, SHUT_RDWR);  // processes that were forked later have it open, too
    ::close(wire);
    ::waitpid(pid_, nullptr, 0);
  }
  peer_process(const peer_process&) = delete;
  peer_process& operator=(const peer_process&) = delete;
  int wire = -1;

 private:
  pid_t pid_ = -1;
};

/// What the device's library keeps for a queue pair of this depth.
std::size_t bytes_of_queue_pair(std::uint32_t depth) {
  ibv_device** const list = ibv_get_device_list(nullptr);
  const handle<ibv_context> context(ibv_open_device(list[0]));
  ibv_free_device_list(list);
  const handle<ibv_pd> domain(ibv_alloc_pd(context.get()));
  const handle<ibv_cq> cq(ibv_create_cq(context.get(), 16, nullptr, nullptr, 0));
  ibv_srq_init_attr few{};
  few.attr = {16, 1, 0};
  const handle<ibv_srq> srq(ibv_create_srq(domain.get(), &few));
  ibv_qp_init_attr how{};
  how.send_cq = how.recv_cq = cq.get();
  how.srq = srq.get();
  how.cap = {depth, 0, 1, 0, 220};
  how.qp_type = IBV_QPT_RC;
  std::vector<handle<ibv_qp>> all;
  all.reserve(peers);
  const std::size_t before = bytes_from_the_heap();
  for (int i = 0; i < peers; ++i) all.emplace_back(ibv_create_qp(domain.get(), &how));
  return (bytes_from_the_heap() - before) / peers;
}

void measure() {
  std::vector<std::unique_ptr<peer_process>> others;
  for (int p = 0; p < processes; ++p)
    others.push_back(std::make_unique<peer_process>(1 + p * each));
  std::vector<address_bytes> addresses(peers);
  for (int p = 0; p < processes; ++p)
    for (int i = 0; i < each; ++i) {
      address_bytes& one = addresses[static_cast<std::size_t>(p * each + i)];
      ASSERT_EQ(
          ::recv(others[static_cast<std::size_t>(p)]->wire, one.data(), one.size(), MSG_WAITALL),
          ssize_t{sizeof one});
    }
  member us(0);
  const std::size_t alone = bytes_from_the_heap();
  for (int p = 0; p < peers; ++p) us.know(p + 1, addresses[static_cast<std::size_t>(p)]);
  const std::size_t known = bytes_from_the_heap();
  const address_bytes mine = us.address();
  for (const auto& one : others)
    ASSERT_EQ(::write(one->wire, mine.data(), mine.size()), ssize_t{sizeof mine});
  std::vector<rank> silent(peers);
  std::iota(silent.begin(), silent.end(), 1);
  for (std::size_t came = 0; came < peers || !silent.empty();) {
    came += us.move();
    std::erase_if(silent, [&](rank r) { return us.says_hello_to(r); });
  }
  const std::size_t connected = bytes_from_the_heap();
  const std::size_t device = bytes_of_queue_pair(64) + bytes_of_queue_pair(4);
  const std::size_t idle_peer = (known - alone) / peers, peer = (connected - known) / peers;
  std::printf("a peer: %zu bytes; connected both ways: %zu more, of which the software card %zu\n",
              idle_peer, peer, device);
  EXPECT_LE(idle_peer, 64u);
  EXPECT_LE(peer - device, 6000u);
}

TEST(VerbsScale, KeepsLittleForAThousandPeers) {
  if (sanitized) GTEST_SKIP() << "whose malloc counts in another way";
  in_own_process({{"HEDDLE_VERBS_RECEIVES", "64"}, {"HEDDLE_PEER_TIMEOUT_MS", "120000"}}, measure);
}

}  // namespace
}  // namespace heddle::test
