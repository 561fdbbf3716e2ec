// SPDX-License-Identifier: BSD-3-Clause
// api_memory.cpp - registering memory.
#include "api.h"

namespace {

using namespace tofu;

/// The arguments both ways to register have in common.
int check(const void* addr, size_t size, unsigned long int flags, const utofu_stadd_t* stadd) {
  if (stadd == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (addr == nullptr) return UTOFU_ERR_INVALID_ADDRESS;
  if (size == 0 || size > offset_mask / 2) return UTOFU_ERR_INVALID_SIZE;
  if (reinterpret_cast<std::uintptr_t>(addr) > ~std::uintptr_t{0} - size) {
    return UTOFU_ERR_INVALID_ADDRESS;
  }
  return (flags & ~UTOFU_REG_MEM_FLAG_READ_ONLY) == 0 ? UTOFU_SUCCESS : UTOFU_ERR_INVALID_FLAGS;
}

bool is_writable(unsigned long int flags) noexcept {
  return (flags & UTOFU_REG_MEM_FLAG_READ_ONLY) == 0;
}

}  // namespace

TOFU_API int utofu_reg_mem(utofu_vcq_hdl_t vcq_hdl, void* addr, size_t size,
                           unsigned long int flags, utofu_stadd_t* stadd) {
  if (const int rc = check(addr, size, flags, stadd); rc != UTOFU_SUCCESS) return rc;
  return with_vcq(vcq_hdl, [&](const vcq& one) {
    return one.queue->steering().register_any(reinterpret_cast<std::uintptr_t>(addr), size,
                                              is_writable(flags), *stadd);
  });
}

TOFU_API int utofu_reg_mem_with_stag(utofu_vcq_hdl_t vcq_hdl, void* addr, size_t size,
                                     unsigned int stag, unsigned long int flags,
                                     utofu_stadd_t* stadd) {
  if (const int rc = check(addr, size, flags, stadd); rc != UTOFU_SUCCESS) return rc;
  if (stag >= reserved_tags) return UTOFU_ERR_INVALID_STAG;
  return with_vcq(vcq_hdl, [&](const vcq& one) {
    return one.queue->steering().register_as(reserved_tag(one.cmp, stag),
                                             reinterpret_cast<std::uintptr_t>(addr), size,
                                             is_writable(flags), *stadd);
  });
}

TOFU_API int utofu_query_stadd(utofu_vcq_id_t vcq_id, unsigned int stag, utofu_stadd_t* stadd) {
  if (stadd == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (!looks_like_vcq(vcq_id)) return UTOFU_ERR_INVALID_VCQ_ID;
  if (stag >= reserved_tags) return UTOFU_ERR_INVALID_STAG;
  const place p = place_of_vcq(vcq_id);
  *stadd = stadd_of(p.number, reserved_tag(p.cmp, stag), 0);
  return UTOFU_SUCCESS;
}

TOFU_API int utofu_dereg_mem(utofu_vcq_hdl_t vcq_hdl, utofu_stadd_t stadd,
                             unsigned long int flags) {
  if (flags != 0) return UTOFU_ERR_INVALID_FLAGS;
  return with_vcq(vcq_hdl, [&](const vcq& one) { return one.queue->steering().deregister(stadd); });
}
