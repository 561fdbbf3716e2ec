// SPDX-License-Identifier: BSD-3-Clause
// post_batch.h - requests that are kept back for a moment, and given to the wire together.
#pragma once
#include <array>
#include <cstddef>

#include "protocols/peer.h"
#include "protocols/request.h"
#include "protocols/surroundings.h"

namespace heddle::protocols {

/// What is added between begin() and end() goes to the wire at end(), or as soon as the batch is
/// full: in order, and as few posts as the wires and peers in it allow. Used under the lane's hold.
class post_batch {
 public:
  /// Who goes on with a request that the wire has refused. What it does may post others, which are
  /// not for the batch then.
  class refusals {
   public:
    virtual void refused(request& r, status reason) = 0;

   protected:
    ~refusals() = default;
  };

  post_batch(refusals& owner, port_counters& counters) : owner_(owner), counters_(counters) {}

  void begin() noexcept { open_ = true; }
  void end() {
    open_ = false;
    post();
  }
  /// Between begin() and end().
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  /// What is posted to this peer now waits for what comes behind it, or for what lies there
  /// already. A wire that only copies gains nothing by posts of many.
  [[nodiscard]] bool keeps_back(const peer& p) const noexcept {
    return open_ && (!p.copies_in_post || size_ != 0);
  }
  /// Whether add() may be called now.
  [[nodiscard]] bool takes() const noexcept { return open_ && !posting_; }
  /// Keeps a request for its peer's first wire.
  void add(request& r) {
    ops_[size_++] = &r;
    if (size_ == ops_.size()) post();
  }
  /// Posts what is there. What a wire refuses goes to the owner, and so does all for the same peer
  /// behind it if the owner blocks the peer; other peers' goes on.
  void post();

 private:
  static constexpr std::size_t most_together = 32;
  [[nodiscard]] request& at(std::size_t i) const noexcept {
    return static_cast<request&>(*ops_[i]);
  }
  void post_run(std::size_t& from);
  [[nodiscard]] std::size_t end_of_run(std::size_t from) const noexcept;

  refusals& owner_;
  port_counters& counters_;
  bool open_ = false;
  bool posting_ = false;  // post() is under way
  std::size_t size_ = 0;
  std::array<transport::op*, most_together> ops_;
};

}  // namespace heddle::protocols
