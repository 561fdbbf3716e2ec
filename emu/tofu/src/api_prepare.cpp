// SPDX-License-Identifier: BSD-3-Clause
// api_prepare.cpp - the one-sided commands as descriptors, and posting those.
#include "api.h"
#include "api_build.h"

namespace {

using namespace tofu;

/// Builds a command and writes it down.
template <class Build>
int prepare(utofu_vcq_hdl_t handle, void* desc, size_t* desc_size, const Build& build) noexcept {
  if (desc == nullptr || desc_size == nullptr) return UTOFU_ERR_INVALID_POINTER;
  return with_vcq(handle, [&](const vcq& from) -> int {
    operation op;
    if (const int rc = build(op); rc != UTOFU_SUCCESS) return rc;
    if (!op.length_fits && from.queue->refuses_lengths()) return UTOFU_ERR_INVALID_SIZE;
    *desc_size = op.slots * slot_bytes;
    std::memcpy(desc, encode(op).data(), *desc_size);
    return UTOFU_SUCCESS;
  });
}

int prepare_blocks(utofu_vcq_hdl_t handle, void* desc, size_t* desc_size, const transfer& t,
                   const strided& s, const paced& p) noexcept {
  return prepare(handle, desc, desc_size, [&](operation& op) { return build_blocks(t, s, p, op); });
}

}  // namespace

// The parameters are the interface's.
// NOLINTBEGIN(readability-function-size)

TOFU_API int utofu_prepare_put(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                               utofu_stadd_t lcl_stadd, utofu_stadd_t rmt_stadd, size_t length,
                               uint64_t edata, unsigned long int flags, void* desc,
                               size_t* desc_size) {
  return prepare(vcq_hdl, desc, desc_size, [&](operation& op) {
    return build_transfer({command::put, {rmt_vcq_id, rmt_stadd, edata, flags}, lcl_stadd, length},
                          op);
  });
}

TOFU_API int utofu_prepare_put_gap(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                                   utofu_stadd_t lcl_stadd, utofu_stadd_t rmt_stadd, size_t length,
                                   uint64_t edata, unsigned long int flags, size_t mtu, size_t gap,
                                   void* desc, size_t* desc_size) {
  return prepare_blocks(vcq_hdl, desc, desc_size,
                        {command::put, {rmt_vcq_id, rmt_stadd, edata, flags}, lcl_stadd, length},
                        {}, {mtu, gap});
}

TOFU_API int utofu_prepare_put_stride(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                                      utofu_stadd_t lcl_stadd, utofu_stadd_t rmt_stadd,
                                      size_t length, size_t stride, size_t num_blocks,
                                      uint64_t edata, unsigned long int flags, void* desc,
                                      size_t* desc_size) {
  return prepare_blocks(vcq_hdl, desc, desc_size,
                        {command::put, {rmt_vcq_id, rmt_stadd, edata, flags}, lcl_stadd, length},
                        {stride, num_blocks}, {});
}

TOFU_API int utofu_prepare_put_stride_gap(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                                          utofu_stadd_t lcl_stadd, utofu_stadd_t rmt_stadd,
                                          size_t length, size_t stride, size_t num_blocks,
                                          uint64_t edata, unsigned long int flags, size_t mtu,
                                          size_t gap, void* desc, size_t* desc_size) {
  return prepare_blocks(vcq_hdl, desc, desc_size,
                        {command::put, {rmt_vcq_id, rmt_stadd, edata, flags}, lcl_stadd, length},
                        {stride, num_blocks}, {mtu, gap});
}

TOFU_API int utofu_prepare_put_piggyback(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                                         void* lcl_data, utofu_stadd_t rmt_stadd, size_t length,
                                         uint64_t edata, unsigned long int flags, void* desc,
                                         size_t* desc_size) {
  return prepare(vcq_hdl, desc, desc_size, [&](operation& op) {
    return build_piggyback({rmt_vcq_id, rmt_stadd, edata, flags}, lcl_data, length, max_piggyback,
                           op);
  });
}

TOFU_API int utofu_prepare_put_piggyback8(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                                          uint64_t lcl_data, utofu_stadd_t rmt_stadd, size_t length,
                                          uint64_t edata, unsigned long int flags, void* desc,
                                          size_t* desc_size) {
  return prepare(vcq_hdl, desc, desc_size, [&](operation& op) {
    return build_piggyback({rmt_vcq_id, rmt_stadd, edata, flags}, &lcl_data, length,
                           sizeof lcl_data, op);
  });
}

TOFU_API int utofu_prepare_get(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                               utofu_stadd_t lcl_stadd, utofu_stadd_t rmt_stadd, size_t length,
                               uint64_t edata, unsigned long int flags, void* desc,
                               size_t* desc_size) {
  return prepare(vcq_hdl, desc, desc_size, [&](operation& op) {
    return build_transfer({command::get, {rmt_vcq_id, rmt_stadd, edata, flags}, lcl_stadd, length},
                          op);
  });
}

TOFU_API int utofu_prepare_get_gap(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                                   utofu_stadd_t lcl_stadd, utofu_stadd_t rmt_stadd, size_t length,
                                   uint64_t edata, unsigned long int flags, size_t mtu, size_t gap,
                                   void* desc, size_t* desc_size) {
  return prepare_blocks(vcq_hdl, desc, desc_size,
                        {command::get, {rmt_vcq_id, rmt_stadd, edata, flags}, lcl_stadd, length},
                        {}, {mtu, gap});
}

TOFU_API int utofu_prepare_get_stride(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                                      utofu_stadd_t lcl_stadd, utofu_stadd_t rmt_stadd,
                                      size_t length, size_t stride, size_t num_blocks,
                                      uint64_t edata, unsigned long int flags, void* desc,
                                      size_t* desc_size) {
  return prepare_blocks(vcq_hdl, desc, desc_size,
                        {command::get, {rmt_vcq_id, rmt_stadd, edata, flags}, lcl_stadd, length},
                        {stride, num_blocks}, {});
}

TOFU_API int utofu_prepare_get_stride_gap(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                                          utofu_stadd_t lcl_stadd, utofu_stadd_t rmt_stadd,
                                          size_t length, size_t stride, size_t num_blocks,
                                          uint64_t edata, unsigned long int flags, size_t mtu,
                                          size_t gap, void* desc, size_t* desc_size) {
  return prepare_blocks(vcq_hdl, desc, desc_size,
                        {command::get, {rmt_vcq_id, rmt_stadd, edata, flags}, lcl_stadd, length},
                        {stride, num_blocks}, {mtu, gap});
}

TOFU_API int utofu_prepare_armw4(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                                 enum utofu_armw_op armw_op, uint32_t op_value,
                                 utofu_stadd_t rmt_stadd, uint64_t edata, unsigned long int flags,
                                 void* desc, size_t* desc_size) {
  return prepare(vcq_hdl, desc, desc_size, [&](operation& op) {
    return build_armw({rmt_vcq_id, rmt_stadd, edata, flags}, armw_op, 4, op_value, op);
  });
}

TOFU_API int utofu_prepare_armw8(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                                 enum utofu_armw_op armw_op, uint64_t op_value,
                                 utofu_stadd_t rmt_stadd, uint64_t edata, unsigned long int flags,
                                 void* desc, size_t* desc_size) {
  return prepare(vcq_hdl, desc, desc_size, [&](operation& op) {
    return build_armw({rmt_vcq_id, rmt_stadd, edata, flags}, armw_op, 8, op_value, op);
  });
}

TOFU_API int utofu_prepare_cswap4(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                                  uint32_t old_value, uint32_t new_value, utofu_stadd_t rmt_stadd,
                                  uint64_t edata, unsigned long int flags, void* desc,
                                  size_t* desc_size) {
  return prepare(vcq_hdl, desc, desc_size, [&](operation& op) {
    return build_cswap({rmt_vcq_id, rmt_stadd, edata, flags}, 4, old_value, new_value, op);
  });
}

TOFU_API int utofu_prepare_cswap8(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t rmt_vcq_id,
                                  uint64_t old_value, uint64_t new_value, utofu_stadd_t rmt_stadd,
                                  uint64_t edata, unsigned long int flags, void* desc,
                                  size_t* desc_size) {
  return prepare(vcq_hdl, desc, desc_size, [&](operation& op) {
    return build_cswap({rmt_vcq_id, rmt_stadd, edata, flags}, 8, old_value, new_value, op);
  });
}

TOFU_API int utofu_prepare_nop(utofu_vcq_hdl_t vcq_hdl, unsigned long int flags, void* desc,
                               size_t* desc_size) {
  return prepare(vcq_hdl, desc, desc_size, [&](operation& op) { return build_flags(flags, op); });
}

// NOLINTEND(readability-function-size)

TOFU_API int utofu_post_toq(utofu_vcq_hdl_t vcq_hdl, void* desc, size_t desc_size, void* cbdata) {
  if (desc == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (desc_size == 0 || desc_size % slot_bytes != 0) return UTOFU_ERR_INVALID_SIZE;
  return with_vcq(vcq_hdl, [&](const vcq& from) {
    return from.queue->post_block(from, {static_cast<const std::byte*>(desc), desc_size}, cbdata);
  });
}
