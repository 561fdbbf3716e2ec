// SPDX-License-Identifier: BSD-3-Clause
// fabric.h - networks that exist only as formulas: hosts, cables, and the way between two hosts.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace heddle::linktest {

enum class shape : std::uint8_t {
  fattree,    ///< three levels of switches with k ports: k/2 hosts a leaf, k/2 leaves a pod, k pods
  torus,      ///< three dimensions of k switches each, a host at each, routed x, y, z
  dragonfly,  ///< groups of 2k switches with k hosts and k global cables each, all groups joined
};

/// A network with the cables between its switches; those to hosts belong to the hosts. Everything
/// is computed when asked, so it takes no memory.
class fabric {
 public:
  /// `k` as in `shape`; 0: the smallest with room for so many hosts. Throws error when there is no
  /// room for them.
  fabric(shape form, int k, int hosts);
  /// "fattree", "torus:k=8". Throws error naming the text and what is accepted.
  [[nodiscard]] static fabric parse(const std::string& text, int hosts);

  [[nodiscard]] int hosts() const noexcept { return hosts_; }
  [[nodiscard]] std::uint64_t cables() const noexcept;
  /// Adds the cables between the switches of two hosts, in the order in which they are crossed.
  void route(int from, int to, std::vector<std::uint32_t>& out) const;
  /// Class of the pair: how far apart the two are. Below 256.
  [[nodiscard]] std::uint8_t distance(int from, int to) const;
  /// "cable leaf 3 - spine 1 of pod 0", "cable (0,1,2) +x", "cable group 3 - group 7".
  [[nodiscard]] std::string cable_name(std::uint32_t cable) const;
  /// "fattree of 48 ports with 27648 hosts".
  [[nodiscard]] std::string describe() const;

 private:
  [[nodiscard]] std::uint64_t room() const noexcept;
  void fattree_route(std::uint64_t from, std::uint64_t to, std::vector<std::uint32_t>& out) const;
  void torus_route(std::uint64_t from, std::uint64_t to, std::vector<std::uint32_t>& out) const;
  void dragonfly_route(std::uint64_t from, std::uint64_t to, std::vector<std::uint32_t>& out) const;
  [[nodiscard]] std::uint32_t local_cable(std::uint64_t group, std::uint64_t a,
                                          std::uint64_t b) const noexcept;

  shape form_;
  std::uint64_t k_;
  int hosts_;
};

}  // namespace heddle::linktest
