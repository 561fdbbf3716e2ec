// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/names.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "base/error.h"

namespace heddle::transport::utofu {
namespace {

/// Those a user can meet; arguments that only a mistake of ours could make wrong show as numbers.
constexpr std::array<std::pair<int, std::string_view>, 19> known{{
    {UTOFU_SUCCESS, "UTOFU_SUCCESS"},
    {UTOFU_ERR_NOT_FOUND, "UTOFU_ERR_NOT_FOUND"},
    {UTOFU_ERR_BUSY, "UTOFU_ERR_BUSY"},
    {UTOFU_ERR_USED, "UTOFU_ERR_USED"},
    {UTOFU_ERR_FULL, "UTOFU_ERR_FULL"},
    {UTOFU_ERR_NOT_AVAILABLE, "UTOFU_ERR_NOT_AVAILABLE"},
    {UTOFU_ERR_NOT_SUPPORTED, "UTOFU_ERR_NOT_SUPPORTED"},
    {UTOFU_ERR_TCQ_MEMORY, "UTOFU_ERR_TCQ_MEMORY"},
    {UTOFU_ERR_TCQ_STADD, "UTOFU_ERR_TCQ_STADD"},
    {UTOFU_ERR_TCQ_LENGTH, "UTOFU_ERR_TCQ_LENGTH"},
    {UTOFU_ERR_MRQ_PEER, "UTOFU_ERR_MRQ_PEER"},
    {UTOFU_ERR_MRQ_RMT_MEMORY, "UTOFU_ERR_MRQ_RMT_MEMORY"},
    {UTOFU_ERR_MRQ_RMT_STADD, "UTOFU_ERR_MRQ_RMT_STADD"},
    {UTOFU_ERR_MRQ_RMT_LENGTH, "UTOFU_ERR_MRQ_RMT_LENGTH"},
    {UTOFU_ERR_INVALID_ADDRESS, "UTOFU_ERR_INVALID_ADDRESS"},
    {UTOFU_ERR_INVALID_SIZE, "UTOFU_ERR_INVALID_SIZE"},
    {UTOFU_ERR_OUT_OF_RESOURCE, "UTOFU_ERR_OUT_OF_RESOURCE"},
    {UTOFU_ERR_OUT_OF_MEMORY, "UTOFU_ERR_OUT_OF_MEMORY"},
    {UTOFU_ERR_FATAL, "UTOFU_ERR_FATAL"},
}};

}  // namespace

std::string name_of_code(int code) {
  for (const auto& [value, name] : known)
    if (value == code) return fmt::format("{} ({})", name, code);
  return fmt::format("uTofu error {}", code);
}

void check(int code, std::string_view what, std::string_view advice) {
  if (code == UTOFU_SUCCESS) return;
  fail("{}: {}{}{}", what, name_of_code(code), advice.empty() ? "" : "; ", advice);
}

status status_of(int code) noexcept {
  switch (code) {
    case UTOFU_SUCCESS:
      return status::done;
    case UTOFU_ERR_MRQ_PEER:
      return status::peer_lost;
    case UTOFU_ERR_MRQ_RMT_STADD:
      return status::withdrawn;
    case UTOFU_ERR_MRQ_RMT_MEMORY:
    case UTOFU_ERR_MRQ_RMT_LENGTH:
      return status::out_of_bounds;
    case UTOFU_ERR_FATAL:
      return status::peer_lost;
    default:
      return status::invalid;
  }
}

utofu_vcq_id_t without_path(utofu_vcq_id_t id) noexcept {
  (void)utofu_set_vcq_id_path(&id, nullptr);
  return id;
}

}  // namespace heddle::transport::utofu
