// SPDX-License-Identifier: BSD-3-Clause
// bare.h - what the machine itself can do, without Heddle: the limits its figures are held against.
//
// Every function measures for about `duration`, starts its own threads and ends them, leaves the
// caller's affinity alone, and throws std::system_error when the system refuses something.
#pragma once
#include <chrono>
#include <cstddef>

#include "parts/pinning.h"

namespace heddle::bare {

using duration = std::chrono::nanoseconds;

/// Seconds for one cache line to go from one core to the other: half a ping-pong on it.
[[nodiscard]] double cache_line_one_way(core_pair cores, duration time);

/// 8-byte stores per second to random slots of a shared mapping of `table_bytes` (power of two).
[[nodiscard]] double random_stores(int core, std::size_t table_bytes, duration time);
/// The same with fetching atomic additions.
[[nodiscard]] double random_atomics(int core, std::size_t table_bytes, duration time);

/// Bytes per second of memcpy from private memory into a shared mapping, `bytes` at a time.
[[nodiscard]] double copy_into_mapping(int core, std::size_t bytes, duration time);
/// Bytes per second of process_vm_readv from another process, `bytes` at a time.
[[nodiscard]] double read_other_process(int core, std::size_t bytes, duration time);

/// Seconds for `bytes` there and back over TCP loopback; both sides spin on non-blocking sockets.
[[nodiscard]] double socket_round_trip(core_pair cores, std::size_t bytes, duration time);
/// The same when the target's socket thread sleeps in epoll while another thread of the target
/// computes on the same core: the least that a target which makes no call can need.
[[nodiscard]] double sleeping_target_round_trip(core_pair cores, std::size_t bytes, duration time);
/// Bytes per second of one TCP loopback stream of messages, read into one buffer; both sides spin.
/// The best of several sizes of write and read, each given its share of `time`.
[[nodiscard]] double socket_stream(core_pair cores, std::size_t message_bytes, duration time);
/// Messages of `bytes`, at least 1, per second through one TCP loopback stream: framed one by one
/// with a head of 16 bytes, written 64 KiB at a time, and each looked at by the reader.
[[nodiscard]] double socket_messages(core_pair cores, std::size_t bytes, duration time);

/// Whether libsodium has AES-256-GCM on this processor.
[[nodiscard]] bool has_aes();
/// Bytes per second of opening encrypted records of `bytes` by libsodium: AES-256-GCM, which has to
/// be there, or ChaCha20-Poly1305.
[[nodiscard]] double open_records(int core, bool with_aes, std::size_t bytes, duration time);

}  // namespace heddle::bare
