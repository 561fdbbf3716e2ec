// SPDX-License-Identifier: BSD-3-Clause
// group.cpp - ranks in one process, and what moves them.
#include "contract/group.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "backends/faults/faults.h"
#include "support/scale.h"

namespace heddle::test {

using transport::op_kind;
using transport::post_result;
using clock = std::chrono::steady_clock;

namespace {

constexpr auto too_long = std::chrono::seconds(sanitized ? 120 : 30);

std::unique_ptr<transport::device> open_device(const contract_case& backend,
                                               const transport::context& where) {
  auto device = backend.open(where);
  if (backend.faults.empty()) return device;
  return transport::make_faulty(std::move(device),
                                transport::parse_faults(backend.faults, where.self));
}

/// Another one for every group, also in other processes on this host.
std::array<std::byte, 32> make_secret() {
  std::random_device source;
  std::array<std::byte, 32> secret{};
  for (std::byte& b : secret) b = static_cast<std::byte>(source());
  return secret;
}

}  // namespace

/// A memfd and its mapping.
struct node::owned {
  int fd = -1;
  std::span<std::byte> bytes;

  explicit owned(std::size_t size) {
    fd = ::memfd_create("heddle-contract", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0 || ::ftruncate(fd, static_cast<off_t>(size)) != 0)
      throw error("memfd of the test: no memory");
    void* at = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED) throw error("memfd of the test: cannot be mapped");
    ::fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    bytes = {static_cast<std::byte*>(at), size};
  }
  ~owned() {
    ::munmap(bytes.data(), bytes.size());
    ::close(fd);
  }
  owned(const owned&) = delete;
  owned& operator=(const owned&) = delete;
};

node::node(const contract_case& backend, rank self, int size, std::span<const std::byte, 32> secret,
           const settings& config)
    : self_(self), config_(config), regions_(std::make_unique<memory::region_table>()) {
  std::copy(secret.begin(), secret.end(), secret_.begin());
  device_ = open_device(backend, {self, size, size, secret_, &config_, regions_.get()});
}

node::~node() = default;

port& node::lane(int number) {
  auto& slot = lanes_[number];
  if (slot == nullptr) slot = std::make_unique<port>(self_, number, device_->make_endpoint(number));
  return *slot;
}

memory::region_ref node::expose(std::span<std::byte> memory, rights allowed) {
  const auto region = regions_->add(memory, allowed);
  EXPECT_NE(region.ref.generation, 0u);
  device_->expose(region);
  exposed_.push_back(region);
  return region.ref;
}

node::mapped_memory node::allocate(std::size_t bytes, rights allowed, memory::region_ref at) {
  owned& memory = *owned_.emplace_back(std::make_unique<owned>(bytes));
  const memory::backing on{memory.fd, memory.fd >= 0};
  const auto region = at.generation == 0 ? regions_->add(memory.bytes, allowed, on)
                                         : regions_->add_at(at, memory.bytes, allowed, on);
  EXPECT_NE(region.ref.generation, 0u);
  device_->expose(region);
  exposed_.push_back(region);
  return {memory.bytes, region.ref};
}

void node::withdraw(memory::region_ref ref) {
  const auto found = std::find_if(exposed_.begin(), exposed_.end(),
                                  [&](const auto& region) { return region.ref == ref; });
  ASSERT_NE(found, exposed_.end());
  device_->withdraw(*found);
  regions_->remove(ref);
  exposed_.erase(found);
}

void node::serve() {
  for (int n = 0; n < 64; ++n) {
    const int wanted = device_->serve();
    if (wanted < 0) return;
    (void)lane(wanted);
  }
}

std::size_t node::pump() {
  serve();
  std::size_t events = 0;
  for (const auto& [number, p] : lanes_) events += p->poll();
  return events;
}

void node::maintain() {
  for (const auto& [number, p] : lanes_) p->maintain();
}

group::group(const contract_case& backend, int size, settings config) {
  config.others = read_settings().others;
  const auto secret = make_secret();
  for (rank r = 0; r < size; ++r)
    nodes_.push_back(std::make_unique<node>(backend, r, size, secret, config));
  for (const auto& one : nodes_)
    for (const auto& other : nodes_) {
      const std::string why =
          one->device().add_peer(other->self(), other->device().address(), true);
      if (!why.empty() && one == other) loops_ = false;
      if (!why.empty() && one != other)
        throw error(fmt::format("rank {} does not reach {}: {}", one->self(), other->self(), why));
    }
}

std::vector<node::mapped_memory> group::allocate_symmetric(std::size_t bytes) {
  const memory::region_ref ref = memory::region_table::symmetric_ref(arrays_++);
  std::vector<node::mapped_memory> made;
  for (const auto& one : nodes_) made.push_back(one->allocate(bytes, rights::all, ref));
  return made;
}

node& group::living() {
  for (const auto& n : nodes_)
    if (n != nullptr) return *n;
  throw error("nobody left in the group");
}

bool group::native(op_kind kind) {
  return (describe().native & only(kind)) != 0;
}

std::size_t group::pump() {
  std::size_t events = 0;
  for (const auto& n : nodes_)
    if (n != nullptr) events += n->pump();
  return events;
}

bool group::until(const std::function<bool()>& happened) {
  auto limit = clock::now() + too_long;
  for (std::size_t idle = 0; !happened();) {
    idle = pump() == 0 ? idle + 1 : 0;
    if (idle == 0) limit = clock::now() + too_long;
    if (idle < 64) continue;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    for (const auto& n : nodes_)
      if (n != nullptr && idle % 64 == 0) n->maintain();
    if (clock::now() > limit) return false;
  }
  return true;
}

bool group::post_all(port& from, std::span<op> ops) {
  return until([&] {
    const post_result r = from.post(ops);
    ops = ops.subspan(r.accepted);
    if (!ops.empty() && r.reason == status::peer_lost) ops = ops.subspan(1);
    return ops.empty();
  });
}

bool group::run(port& from, std::span<op> ops) {
  return post_all(from, ops) && until([&] { return from.in_flight() == 0; });
}

void group::settle() {
  for (int i = 0; i < 50; ++i) {
    for (int j = 0; j < 20; ++j) pump();
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

op send_op(destination to, std::span<const std::byte> data, std::span<const std::byte> header) {
  op o;
  o.kind = op_kind::send;
  o.whom = to;
  o.memory = transport::only_read(data);
  o.header = header;
  return o;
}

op put_op(rank to, memory::region_ref region, std::uint64_t offset,
          std::span<const std::byte> data) {
  op o;
  o.kind = op_kind::put;
  o.whom = to;
  o.region = region;
  o.offset = offset;
  o.memory = transport::only_read(data);
  return o;
}

op receive_op(destination from, std::uint64_t number, std::span<std::byte> into) {
  op o;
  o.kind = op_kind::receive;
  o.whom = from;
  o.operand = number;
  o.memory = into;
  return o;
}

op deliver_op(destination to, std::uint64_t number, std::span<const std::byte> data) {
  op o = receive_op(to, number, transport::only_read(data));
  o.kind = op_kind::deliver;
  return o;
}

op get_op(rank from, memory::region_ref region, std::uint64_t offset, std::span<std::byte> into) {
  op o;
  o.kind = op_kind::get;
  o.whom = from;
  o.region = region;
  o.offset = offset;
  o.memory = into;
  return o;
}

op atomic_operation(rank at, memory::region_ref region, std::uint64_t offset, atomic_op what,
                    std::uint8_t width, std::uint64_t operand, std::span<std::byte> into,
                    std::uint64_t compare) {
  op o;
  o.kind = op_kind::atomic;
  o.whom = at;
  o.region = region;
  o.offset = offset;
  o.atomic = what;
  o.width = width;
  o.operand = operand;
  o.compare = compare;
  o.memory = into;
  return o;
}

}  // namespace heddle::test
