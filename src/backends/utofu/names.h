// SPDX-License-Identifier: BSD-3-Clause
// names.h - the uTofu interface in this backend's words: return codes as text and as statuses.
#pragma once
#include <heddle/status.h>
#include <utofu.h>

#include <string>
#include <string_view>

namespace heddle::transport::utofu {

/// "UTOFU_ERR_FULL (-6)". Any code.
[[nodiscard]] std::string name_of_code(int code);

/// Throws error "what: UTOFU_ERR_...; advice" unless `code` is UTOFU_SUCCESS.
void check(int code, std::string_view what, std::string_view advice = {});

/// What an operation ends with when the hardware reports `code` for it.
[[nodiscard]] status status_of(int code) noexcept;

/// An id as notices show it: without a path.
[[nodiscard]] utofu_vcq_id_t without_path(utofu_vcq_id_t id) noexcept;

}  // namespace heddle::transport::utofu
