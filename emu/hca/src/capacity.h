// SPDX-License-Identifier: BSD-3-Clause
// capacity.h - how much of everything the device has.
#pragma once
#include <cstddef>
#include <cstdint>

namespace hca {

inline constexpr unsigned max_nodes = 64;
inline constexpr unsigned max_devices = 4;
inline constexpr unsigned max_ports = 2;
inline constexpr unsigned max_contexts = 1024;  ///< of the machine
inline constexpr unsigned max_qps = 1u << 14;   ///< of the machine
inline constexpr unsigned max_mrs = 1u << 16;   ///< of a process
inline constexpr std::uint32_t max_queue_depth = 1u << 15;
inline constexpr std::uint32_t max_cqes = 1u << 20;
inline constexpr std::uint32_t max_sge = 30;
inline constexpr std::uint32_t max_inline = 1024;
inline constexpr std::uint32_t max_message = 1u << 31;
inline constexpr std::uint8_t max_rd_atomic = 16;
inline constexpr std::uint32_t mtu_bytes = 4096;
inline constexpr std::uint32_t grh_bytes = 40;
inline constexpr unsigned max_groups = 16;         ///< multicast groups of the machine
inline constexpr unsigned max_group_members = 64;  ///< QPs of a multicast group
inline constexpr std::size_t arena_bytes = std::size_t{1} << 32;  ///< of a process, sparse

}  // namespace hca
