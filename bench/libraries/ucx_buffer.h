// SPDX-License-Identifier: BSD-3-Clause
// ucx_buffer.h - the buffers of a benchmark of UCX, made as those of Heddle's are.
#pragma once
#include <ucp/api/ucp.h>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "harness/slots.h"

namespace heddle::bench {

inline void require(ucs_status_t status, const char* what) {
  if (status != UCS_OK)
    throw std::runtime_error(std::string(what) + ": " + ucs_status_string(status));
}

inline std::vector<std::byte> bytes_of(const void* from, std::size_t size) {
  const auto* const begin = static_cast<const std::byte*>(from);
  return {begin, begin + size};
}

/// The program's memory, or UCX's, which UCX knows then. The other rank may address what UCX knows.
/// Every page is there before timing.
class ucx_buffer {
 public:
  ucx_buffer(ucp_context_h context, std::size_t bytes, buffer_kind where, bool addressable = false)
      : context_(context), bytes_(bytes) {
    const bool is_ours = where == buffer_kind::plain;
    if (is_ours) ours_ = std::make_unique<page_buffer>(bytes);
    if (is_ours) data_ = ours_->data();
    if (!is_ours || addressable) map(is_ours ? 0U : unsigned{UCP_MEM_MAP_ALLOCATE});
    std::fill_n(data_, bytes, std::byte{0});
  }
  ucx_buffer(const ucx_buffer&) = delete;
  ucx_buffer& operator=(const ucx_buffer&) = delete;
  ~ucx_buffer() {
    if (known_ != nullptr) ucp_mem_unmap(context_, known_);
  }
  /// Only when addressable.
  [[nodiscard]] std::vector<std::byte> key() const {
    void* packed = nullptr;
    std::size_t size = 0;
    require(ucp_rkey_pack(context_, known_, &packed, &size), "ucp_rkey_pack");
    std::vector<std::byte> copy = bytes_of(packed, size);
    ucp_rkey_buffer_release(packed);
    return copy;
  }
  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return {data_, bytes_}; }

 private:
  void map(unsigned flags) {
    ucp_mem_map_params_t params{};
    params.field_mask = UCP_MEM_MAP_PARAM_FIELD_ADDRESS | UCP_MEM_MAP_PARAM_FIELD_LENGTH |
                        UCP_MEM_MAP_PARAM_FIELD_FLAGS;
    params.address = data_;
    params.length = std::max<std::size_t>(bytes_, 1);
    params.flags = flags;
    require(ucp_mem_map(context_, &params, &known_), "ucp_mem_map");
    ucp_mem_attr_t got{};
    got.field_mask = UCP_MEM_ATTR_FIELD_ADDRESS;
    require(ucp_mem_query(known_, &got), "ucp_mem_query");
    data_ = static_cast<std::byte*>(got.address);
  }
  ucp_context_h context_;
  std::size_t bytes_;
  std::unique_ptr<page_buffer> ours_;
  ucp_mem_h known_ = nullptr;
  std::byte* data_ = nullptr;
};

}  // namespace heddle::bench
