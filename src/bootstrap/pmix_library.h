// SPDX-License-Identifier: BSD-3-Clause
// pmix_library.h - the few parts of PMIx that Heddle uses, loaded when a launcher offers it.
//
// Own declarations of the stable ABI of libpmix.so.2 (PMIx 2 to 5), so that neither building nor
// running Heddle needs the library elsewhere; pmix_library_test.cpp compares them with the header.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

namespace heddle::bootstrap::pmix {

inline constexpr std::size_t name_bytes = 256, key_bytes = 512;
inline constexpr std::uint32_t all_ranks = UINT32_MAX - 1;
inline constexpr int success = 0;
inline constexpr std::uint8_t global_scope = 3;
inline constexpr const char* job_size = "pmix.job.size";
inline constexpr const char* local_size = "pmix.local.size";
inline constexpr const char* collect_data = "pmix.collect";

enum class data_type : std::uint16_t { boolean = 1, uint16 = 13, uint32 = 14, byte_object = 27 };

struct process {
  char job[name_bytes];
  std::uint32_t rank;
};

struct byte_object {
  char* bytes;
  std::size_t size;
};

struct value {
  data_type type;
  union {
    bool flag;
    std::uint16_t uint16;
    std::uint32_t uint32;
    byte_object bytes;
    char room[24];  // of the largest member
  } data;
};

struct info {
  char key[key_bytes];
  std::uint32_t flags;
  pmix::value value;
};

using ended_function = void (*)(int status, void* context);

/// libpmix.so.2, kept loaded to the end of the process: it has threads. Any thread.
struct library {
  int (*init)(process* self, info* given, std::size_t count);
  int (*finalize)(const info* given, std::size_t count);
  int (*put)(std::uint8_t scope, const char* key, value* what);
  int (*commit)();
  int (*fence)(const process* among, std::size_t processes, const info* given, std::size_t count,
               ended_function ended, void* context);  ///< PMIx_Fence_nb
  int (*get)(const process* of, const char* key, const info* given, std::size_t count,
             value** found);
  int (*abort)(int status, const char* message, process* among, std::size_t count);
  const char* (*text_of)(int status);

  /// Throws error: there is no such library here, or it is not what it should be.
  static const library& loaded();
};

/// Releases what get() has given.
void release(value* found) noexcept;

}  // namespace heddle::bootstrap::pmix
