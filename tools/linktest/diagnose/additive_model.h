// SPDX-License-Identifier: BSD-3-Clause
// additive_model.h - the usual time of each pair, from its class and its two ends; robustly fitted.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "linktest/diagnose/observation.h"

namespace heddle::linktest {

/// A rail of a node in one direction; for two-way traffic both directions are one port. What it has
/// to do with nodes of its own host is another port: no network card is part of that.
struct port {
  int node = 0;
  int rail = 0;
  bool sends = true;
};

/// What the fit says of a port.
struct port_effect {
  double excess = 0;  ///< log of how many times as long its pairs take; 0: not above noise
  double sigma = 0;   ///< of `excess`, were the port like the others
  std::uint32_t observations = 0, partners = 0;
};

/// log seconds = usual of the class + excess of the sending port + excess of the receiving port +
/// residual, by median polish: each excess is the lower median of what its observations leave, so
/// that a slow pair does not move a port of which most pairs are as usual. A port with one partner
/// only has no excess of its own: it could not be told from the pair's.
/// Memory: some 30 bytes per observation, 40 per port.
class additive_model {
 public:
  /// `seen` must outlive it; nodes of it are below where.nodes.
  additive_model(std::span<const observation> seen, const surroundings& where);

  [[nodiscard]] std::size_t ports() const noexcept { return effects_.size(); }
  [[nodiscard]] port port_at(std::size_t index) const noexcept;
  [[nodiscard]] const port_effect& effect_at(std::size_t index) const noexcept {
    return effects_[index];
  }
  /// The observations of a port, as indices into `seen`.
  [[nodiscard]] std::span<const std::uint32_t> observations_of(
      std::size_t port_index) const noexcept;
  /// What class and ends do not explain of an observation, as a log.
  [[nodiscard]] double residual(std::size_t index) const noexcept;
  /// What its class alone does not explain, as a log.
  [[nodiscard]] double class_excess(std::size_t index) const noexcept {
    return static_cast<double>(logs_[index]) - usual_[seen_[index].kind];
  }
  /// Standard deviation of healthy residuals, the observation's own uncertainty included.
  [[nodiscard]] double sigma(std::size_t index) const noexcept;
  /// Seconds that a healthy pair of the class takes; 0: no such pair was seen.
  [[nodiscard]] double usual_s(std::uint8_t kind) const noexcept;
  /// Rails that were told apart; at least 1.
  [[nodiscard]] int rails() const noexcept { return rails_; }

 private:
  [[nodiscard]] std::size_t port_of(const observation& o, bool sends) const noexcept;
  void index_observations();
  void count_partners();
  void center_classes();
  void polish();
  void center_ports();
  void measure_noise();
  void drop_noise();

  std::span<const observation> seen_;
  bool one_way_;
  std::array<bool, 256> inside_{};  // by class: on one host
  std::size_t scopes_;              // 2: pairs on one host are told from others
  double usual_share_;              // of a class's pairs are at most as slow as is usual for it
  std::size_t nodes_;
  int rails_ = 1;
  std::vector<float> logs_;                // of seconds
  std::vector<std::uint32_t> begin_, of_;  // observations by port: of_[begin_[p] .. begin_[p + 1])
  std::vector<port_effect> effects_;
  std::array<double, 256> usual_{}, sigma_{};  // by class; usual as a log
  std::array<bool, 256> known_{};
};

}  // namespace heddle::linktest
