// SPDX-License-Identifier: BSD-3-Clause
// secret_file.h - a secret that the job's ranks share by a file: HEDDLE_SECRET_FILE.
#pragma once
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "bootstrap/secret.h"

namespace heddle::bootstrap {

inline constexpr const char* secret_file_variable = "HEDDLE_SECRET_FILE";

/// What the file holds, hashed. Throws error with the cure: it cannot be read, others may read or
/// write it, it is not this user's, or it holds fewer than 32 bytes.
[[nodiscard]] secret_bytes read_secret_file(const std::string& path);

/// The secret of HEDDLE_SECRET_FILE; nothing where that is not set.
[[nodiscard]] std::optional<secret_bytes> given_secret();

/// A secret that only who knows both can tell; `secret` itself where HEDDLE_SECRET_FILE is not set.
[[nodiscard]] secret_bytes mixed_with_file(const secret_bytes& secret);

/// Hash of `text` with the key `key`, which cannot be told from it.
[[nodiscard]] secret_bytes derived(const secret_bytes& key, std::span<const std::byte> text);

}  // namespace heddle::bootstrap
