// settings.h - every HEDDLE_* setting: one table, one struct, read once when a world starts.
#pragma once
#include <heddle/info.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/checks.h"

namespace heddle {

/// About two wakes of a sleeping thread on a virtual machine.
inline constexpr std::uint64_t default_spin_us = 50;
/// HEDDLE_SPIN_US=auto: what wake_cost.h says of this host.
inline constexpr std::uint64_t automatic = UINT64_MAX;

/// shm and tcp, and between them utofu where Heddle was built with the vendor's library. Not where
/// it was built with the software device: that is nobody's network unless it is asked for.
[[nodiscard]] const char* default_backends() noexcept;

/// Values of all settings. Adding one: a member here, a row in settings.cpp.
struct settings {
  std::string backends = default_backends();  ///< HEDDLE_BACKENDS: which may be used, with commas
  std::string host;                           ///< HEDDLE_HOST: overrides the host identity
  std::string tcp_iface;          ///< HEDDLE_TCP_IFACE: interfaces, each one a rail; empty: choose
  std::uint64_t utofu_lanes = 0;  ///< HEDDLE_UTOFU_LANES: VCQs; 0: by the ranks here
  std::uint64_t utofu_cqs = 8;    ///< HEDDLE_UTOFU_CQS: of each TNI, for lanes alone
  std::size_t utofu_stage_bytes = 512;       ///< HEDDLE_UTOFU_STAGE_BYTES: shorter data is copied
  std::size_t utofu_ring_bytes = 64 * 1024;  ///< HEDDLE_UTOFU_RING_BYTES: per pair, lane, direction
  std::uint64_t utofu_mrq = 2048;  ///< HEDDLE_UTOFU_MRQ: notices that a queue surely holds
  std::string cma = "auto";        ///< HEDDLE_SHM_CMA: auto | off: process_vm_readv and writev
  std::string log = "warn";        ///< HEDDLE_LOG: off | error | warn | info | debug
  std::size_t eager_bytes = 0;     ///< HEDDLE_EAGER_BYTES: larger messages rendezvous; 0: backend's
  std::size_t ring_bytes = 256 * 1024;      ///< HEDDLE_SHM_RING_BYTES: per pair, lane, direction
  std::size_t credit_bytes = 1024 * 1024;   ///< HEDDLE_CREDIT_BYTES: unexpected, per peer and lane
  std::size_t records = 4096;               ///< HEDDLE_RECORDS: operations in flight per lane
  std::size_t chunk_bytes = 1024 * 1024;    ///< HEDDLE_TCP_CHUNK_BYTES: of large transfers
  std::uint64_t peer_timeout_ms = 30'000;   ///< HEDDLE_PEER_TIMEOUT_MS
  std::uint64_t join_timeout_ms = 120'000;  ///< HEDDLE_JOIN_TIMEOUT_MS: for late ranks; 0: no limit
  std::uint64_t linger_ms = 2'000;          ///< HEDDLE_LINGER_MS: flushing at the world's end
  std::uint64_t spin_us = default_spin_us;  ///< HEDDLE_SPIN_US: polling before a wait sleeps
  std::string progress = "adaptive";    ///< HEDDLE_PROGRESS: inline | dedicated | idle | adaptive
  std::uint64_t executors = 1;          ///< HEDDLE_EXECUTORS: dedicated threads, or idle helpers
  std::string executor_cores = "near";  ///< HEDDLE_EXECUTOR_CORES: near | none | 2,3,...
  std::string checks = checking ? "on" : "off";  ///< HEDDLE_CHECKS: off | on: look for misuse
  std::string lane_lock = "off";      ///< HEDDLE_LANE_LOCK: off | on: to compare with, see there
  std::string rcache = "auto";        ///< HEDDLE_RCACHE: auto | hooks | off: keep registrations
  std::size_t rcache_entries = 1024;  ///< HEDDLE_RCACHE_ENTRIES: per device queue
  std::size_t rcache_bytes = 0;       ///< HEDDLE_RCACHE_BYTES: per device queue; 0: no limit
  std::uint64_t backstop_ms = 128;    ///< HEDDLE_BACKSTOP_MS: a sleeper looks by itself; 0: never
  std::uint64_t strict = 0;           ///< HEDDLE_STRICT: 1: an unknown HEDDLE_* name is an error
  std::string faults;  ///< HEDDLE_FAULTS: for tests: what goes wrong, see backends/faults/faults.h
};

/// Reads the environment through `get` (name -> value or null); what it does not set stays as in
/// `defaults`. Throws heddle::error naming the setting, the bad value and what would be accepted.
[[nodiscard]] settings read_settings(const std::function<const char*(const char*)>& get,
                                     const settings& defaults = {});
/// From the process's environment. With HEDDLE_STRICT=1 throws as well where unknown_settings() is
/// not empty.
[[nodiscard]] settings read_settings(const settings& defaults = {});

/// The names in the process's environment that begin with HEDDLE_ and are neither settings nor the
/// launcher's, each with what may have been meant, for people: "HEDDLE_DIR, HEDDLE_RECORD (did you
/// mean HEDDLE_RECORDS?)". Empty: there are none.
[[nodiscard]] std::string unknown_settings();

/// "1K", "128k", "4M", "1G" or plain bytes -> bytes (powers of 1024). Throws heddle::error.
[[nodiscard]] std::uint64_t parse_bytes(const std::string& text);

}  // namespace heddle
