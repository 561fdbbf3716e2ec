// SPDX-License-Identifier: BSD-3-Clause
// scripted_endpoint.h - an inner endpoint for tests of faulty ones: remembers what it was given and
// reports what it was told to.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "transport/device.h"

namespace heddle::transport {

/// A lane of a peer that is only a name.
struct scripted_lane final : remote_lane {
  using remote_lane::remote_lane;
};

/// What a test sees and sets; outlives the endpoint.
struct script {
  bool no_memory = false;  ///< for a lane that is reached for
  std::map<std::pair<rank, int>, std::unique_ptr<scripted_lane>> reached;
  remote_lane* reach(rank peer, int lane = 0) {
    auto& known = reached[{peer, lane}];
    if (known == nullptr) known = std::make_unique<scripted_lane>(peer, lane);
    return known.get();
  }
  std::vector<op> posted;                        ///< copies
  std::vector<op*> under_way;                    ///< of these, what was answered posted
  std::vector<std::vector<std::byte>> messages;  ///< of each send
  std::size_t room = SIZE_MAX;                   ///< ops still taken before busy_queue
  std::deque<event> events;                      ///< to be reported, in this order
  std::vector<rank> dropped;
  int exposed = 0;                    ///< regions now
  int polls = 0;                      ///< so far
  int fd = 77;                        ///< the endpoint's
  int looked_from = -1;               ///< the core of a thread that waits
  bool shares_core = false;           ///< what it is answered
  std::function<void()> when_looked;  ///< not empty: called meanwhile
  std::function<void()> when_arming;  ///< the same
  std::vector<std::span<std::byte>> revoked;
  detail::remote_target mapping;  ///< what import() gives; nothing is mapped at first
  bool no_region = false;         ///< import() throws
  int imports = 0;                ///< so far
  status answer = status::done;   ///< to each op, but to those of these kinds: unsupported
  op_set refused = 0;
  bool ordered = true;
  op_set native = only(op_kind::send);
  atomic_set atomics = atomic_set::all();
  std::size_t max_op = SIZE_MAX, lanes = SIZE_MAX;
  bool cpu_atomics = true, ends_remotely = true, copies_in_post = false, put_tells = false;
};

class scripted_endpoint final : public endpoint {
 public:
  explicit scripted_endpoint(script& s) : script_(s) {}

  remote_lane* reach(rank peer, int lane) noexcept override {
    return script_.no_memory ? nullptr : script_.reach(peer, lane);
  }
  using endpoint::post;
  post_result post(std::span<op* const> ops) noexcept override {
    std::size_t n = 0;
    for (op* each : ops) {
      op& o = *each;
      const auto& gone = script_.dropped;
      if (std::find(gone.begin(), gone.end(), o.to->peer) != gone.end())
        return {n, status::peer_lost};
      if (script_.room == 0) return {n, status::busy_queue};
      --script_.room;
      if ((script_.refused & only(o.kind)) != 0) return {n, status::unsupported};
      if (script_.answer != status::done && script_.answer != status::posted)
        return {n, script_.answer};
      o.over = script_.answer == status::done || o.kind == op_kind::send;
      if (!o.over) script_.under_way.push_back(&o);
      script_.posted.push_back(o);
      if (o.kind == op_kind::send) {
        const auto head = std::as_bytes(std::span(&o.head, 1));
        auto& bytes = script_.messages.emplace_back(head.begin(), head.end());
        bytes.insert(bytes.end(), o.header.begin(), o.header.end());
        bytes.insert(bytes.end(), o.memory.begin(), o.memory.end());
      }
      ++n;
    }
    return {n, status::done};
  }
  /// The bytes of messages lie in one buffer that every poll overwrites.
  std::size_t poll(std::span<event> out) noexcept override {
    std::size_t n = 0, used = 0;
    ++script_.polls;
    bytes_.assign(bytes_.size(), std::byte{0xee});
    for (; n < out.size() && !script_.events.empty(); ++n, script_.events.pop_front()) {
      out[n] = script_.events.front();
      if (out[n].bytes.empty()) continue;
      std::memcpy(&bytes_[used], out[n].bytes.data(), out[n].bytes.size());
      out[n].bytes = std::span(bytes_).subspan(used, out[n].bytes.size());
      used += out[n].bytes.size();
    }
    return n;
  }
  bool shares_core(int core) noexcept override {
    script_.looked_from = core;
    if (script_.when_looked) script_.when_looked();
    return script_.shares_core;
  }
  bool arm() noexcept override {
    if (script_.when_arming) script_.when_arming();
    return script_.events.empty();
  }
  [[nodiscard]] int fd() const noexcept override { return script_.fd; }
  void maintain() noexcept override {}
  void drop(remote_lane& of) noexcept override { script_.dropped.push_back(of.peer); }
  [[nodiscard]] bool idle() const noexcept override { return true; }

 private:
  script& script_;
  std::vector<std::byte> bytes_ = std::vector<std::byte>(4096);
};

class scripted_device final : public device {
 public:
  explicit scripted_device(script& s) : script_(s) {
    traits_.send_after_put = s.ordered;
    traits_.native = s.native;
    traits_.max_message = 4096;
    traits_.atomics = s.atomics;
    traits_.max_op = s.max_op;
    traits_.lanes = s.lanes;
    traits_.cpu_atomics = s.cpu_atomics;
    traits_.ends_remotely = s.ends_remotely;
    traits_.copies_in_post = s.copies_in_post;
    traits_.put_tells = s.put_tells;
  }

  [[nodiscard]] const traits& describe() const noexcept override { return traits_; }
  [[nodiscard]] std::vector<std::byte> address() const override { return {}; }
  std::string add_peer(rank, std::span<const std::byte>, bool) override { return {}; }
  std::unique_ptr<endpoint> make_endpoint(int) override {
    for (auto& [name, lane] : script_.reached) lane->user = nullptr;  // of the last one's engine
    return std::make_unique<scripted_endpoint>(script_);
  }
  void expose(const memory::local_region&) noexcept override { ++script_.exposed; }
  void withdraw(const memory::local_region&) noexcept override { --script_.exposed; }
  void revoke(const memory::local_region& region) noexcept override {
    --script_.exposed;
    script_.revoked.push_back(region.memory);
  }
  std::shared_ptr<void> import(rank, memory::region_ref, detail::remote_target& out) override {
    ++script_.imports;
    if (script_.no_region) throw std::runtime_error("there is no such region");
    if (script_.mapping.direct != nullptr) out = script_.mapping;
    return std::make_shared<int>(1);
  }
  [[nodiscard]] int fd() const noexcept override { return 78; }
  int serve() noexcept override { return 5; }

 private:
  script& script_;
  traits traits_;
};

}  // namespace heddle::transport
