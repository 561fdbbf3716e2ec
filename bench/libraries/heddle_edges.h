// SPDX-License-Identifier: BSD-3-Clause
// heddle_edges.h - Heddle's tagged messages as the edges of a convolution: of any two threads.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "kernels/convolution.h"
#include "libraries/station.h"
#include "libraries/window.h"

namespace heddle::bench {

/// A message each way, on the lane that its sender has.
class heddle_edge {
 public:
  heddle_edge(station& at, const spec& s, const edge_end& end)
      : end_(end),
        out_lane_(at.lane_of(s, end.thread)),
        in_lane_(at.lane_of(s, end.their_thread)),
        out_(end.items),
        in_(end.items) {}
  [[nodiscard]] std::span<double> out() noexcept { return out_; }
  [[nodiscard]] std::span<const double> in() const noexcept { return in_; }

  void post_recv() {
    received_.post([this](completion c) {
      return in_lane_.try_recv(end_.peer, tag_of(purpose::data, end_.received),
                               std::as_writable_bytes(std::span(in_)), c);
    });
  }
  void post_send() {
    sent_.post([this](completion c) {
      return out_lane_.try_send(end_.peer, tag_of(purpose::data, end_.sent),
                                std::as_bytes(std::span(out_)), c);
    });
  }
  void finish_recv() { received_.finish(); }
  void finish_send() { sent_.finish(); }

 private:
  const edge_end end_;
  lane& out_lane_;
  lane& in_lane_;
  std::vector<double> out_, in_;
  single sent_{{out_lane_, nullptr}}, received_{{in_lane_, nullptr}};
};

class heddle_edges {
 public:
  heddle_edges(station& at, const spec& s) : at_(at), spec_(s) {}
  [[nodiscard]] int ranks() const { return at_.job().size(); }
  [[nodiscard]] int self() const { return at_.self(); }
  [[nodiscard]] std::unique_ptr<heddle_edge> connect(const edge_end& end) {
    return std::make_unique<heddle_edge>(at_, spec_, end);
  }

 private:
  station& at_;
  const spec spec_;
};

}  // namespace heddle::bench
