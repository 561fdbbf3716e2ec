// SPDX-License-Identifier: BSD-3-Clause
// spec.h - what one benchmark measures, and the names of its parts on the command line.
#pragma once
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "parts/pinning.h"
#include "run/binding.h"
#include "run/hosts.h"

namespace heddle::bench {

enum class kind { latency, bandwidth, rate, overlap, overhead, gups };
enum class operation { put, get, fetch_add, am, tag };
/// What the target's threads do while it is read from and written to.
enum class target_mode { waiting, computing };
/// Where the bytes of large transfers lie.
enum class buffer_kind { plain, exposed };
/// Which sides compute between posting and waiting, in overlap.
enum class computing { sender, receiver, both };
/// Who is measured in turn with Heddle. `ofi`: libfabric. `utofu`, `verbs`: a program that calls
/// uTofu or libibverbs itself. `lock`, `unloaded`: Heddle with one lock per lane, or without the
/// copies beside. `bare`: what the machine itself does, without Heddle. `uncached`: Heddle keeping
/// no registrations, in a job of its own. `pair`: Heddle with two ranks of the job active.
enum class rival { ucx, ofi, openmpi, mpich, utofu, verbs, lock, uncached, unloaded, bare, pair };

/// One thing to measure, on all ranks of a job.
struct spec {
  kind what = kind::latency;
  operation op = operation::am;
  std::uint64_t bytes = 8;
  int threads = 1;
  int lanes = 0;            ///< per rank, each shared by neighbouring threads; 0: one per thread
  bool lock_lanes = false;  ///< one plain lock around every call and poll of a lane
  int window = 64;          ///< operations in flight per thread, in bandwidth and rate
  buffer_kind buffers = buffer_kind::plain;
  target_mode target = target_mode::waiting;
  bool background = false;                  ///< a latency for which nobody polls or waits
  std::uint64_t table_bytes = 1 << 20;      ///< of a rank, or more where messages are larger
  std::uint64_t beside_bytes = 0;           ///< latency of tag: of a message that moves meanwhile
  std::chrono::milliseconds time{200};      ///< of one round
  computing who = computing::both;          ///< overlap
  double compute_us = 100;                  ///< overlap: between posting and waiting
  std::uint64_t memory_bytes = 20'000'000;  ///< gups: of a rank, of which the table takes half
  bool atomic = false;                      ///< gups: one remote xor instead of get, xor, put
  bool full = false;                        ///< gups: 4 updates per word, however long they take
};

/// Everything that the command line sets.
struct options {
  std::string benchmark;  ///< as in records
  spec base;
  std::vector<std::uint64_t> sizes;
  std::vector<int> thread_counts{1};  ///< each of them in every round; base.threads is not used
  std::string backend = "auto";
  int ranks = 2;
  int rounds = 5;
  tools::binding bind{};
  bool free_executors = false;       ///< Heddle's own threads are not tied to their rank's cores
  bool aggregate_bandwidth = false;  ///< of a ping-pong, also the bytes of all its threads
  std::vector<rival> rivals;
  tools::host_options hosts = {};  ///< where a job that we start runs; none: here
  int rival_limit_s = 30;          ///< what a rival may take for a round beyond its time
  std::string json_file;           ///< empty: none
};

/// The names of an enumeration's values in their order, as on the command line and in records.
template <class E>
inline constexpr std::array<const char*, 0> names_of{};
template <>
inline constexpr std::array names_of<kind>{"latency", "bandwidth",        "rate",
                                           "overlap", "latency-overhead", "gups"};
template <>
inline constexpr std::array names_of<operation>{"put", "get", "fetch-add", "am", "tag"};
template <>
inline constexpr std::array names_of<target_mode>{"waiting", "computing"};
template <>
inline constexpr std::array names_of<buffer_kind>{"plain", "exposed"};
template <>
inline constexpr std::array names_of<computing>{"sender", "receiver", "both"};
template <>
inline constexpr std::array names_of<rival>{"ucx",      "ofi",   "openmpi", "mpich",
                                            "utofu",    "verbs", "lock",    "uncached",
                                            "unloaded", "bare",  "pair"};

template <class E>
requires(!names_of<E>.empty()) [[nodiscard]] std::string name_of(E value) {
  return names_of<E>.at(static_cast<std::size_t>(value));
}

/// All values by their names.
template <class E>
[[nodiscard]] std::map<std::string, E> choices() {
  std::map<std::string, E> all;
  for (std::size_t i = 0; i < names_of<E>.size(); ++i) all[names_of<E>[i]] = static_cast<E>(i);
  return all;
}

/// Whether the side that sends, or the one that receives, computes.
[[nodiscard]] bool computes(computing who, bool sends) noexcept;

/// Whether a latency of this operation is a round trip; otherwise it is half of one.
[[nodiscard]] bool is_round_trip(operation op);

/// Which lane thread `thread` uses.
[[nodiscard]] int lane_index(const spec& s, int thread);

/// What a figure is.
struct metric {
  std::string name, unit;
  std::string op = {};  ///< as in a record, where it is not that of the spec
  bool mean = false;    ///< of the rounds, with Student's interval; otherwise their median
};
/// The figures of a round of any library, in this order; the first is the one that is compared, and
/// is positive.
[[nodiscard]] std::vector<metric> metrics_of(const spec& s);
/// Of a latency, bandwidth or rate, which has one: `seconds` per operation (latency: already one
/// way where that is meant) in the metric's unit.
[[nodiscard]] double figure(const spec& s, double seconds);

/// What makes it another measurement and stands in no other field of a record: "64 in flight,
/// plain buffers".
[[nodiscard]] std::string setup_of(const spec& s);

/// The largest of its thread counts.
[[nodiscard]] int most_threads(const options& o);

/// Cores of rank `rank` of `ranks`: neighbours, as many as it has threads, but no more than its
/// share and at least one; ranks go round when the cores run out.
[[nodiscard]] std::vector<int> cores_of_rank(const std::vector<int>& allowed, int rank, int ranks,
                                             int threads);

}  // namespace heddle::bench
