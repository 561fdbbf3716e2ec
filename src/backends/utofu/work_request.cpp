// SPDX-License-Identifier: BSD-3-Clause
#include "backends/utofu/work_request.h"

namespace heddle::transport::utofu {
namespace {

int prepare_atomic(utofu_vcq_hdl_t vcq, const work_request& c, void* at,
                   std::size_t* size) noexcept {
  if (c.atomic == atomic_op::compare_swap) {
    return c.width == 8 ? utofu_prepare_cswap8(vcq, c.to, c.compare, c.operand, c.there, c.edata,
                                               c.flags, at, size)
                        : utofu_prepare_cswap4(vcq, c.to, low(c.compare), low(c.operand), c.there,
                                               c.edata, c.flags, at, size);
  }
  const utofu_armw_op op = armw_of(c.atomic);
  return c.width == 8
             ? utofu_prepare_armw8(vcq, c.to, op, c.operand, c.there, c.edata, c.flags, at, size)
             : utofu_prepare_armw4(vcq, c.to, op, low(c.operand), c.there, c.edata, c.flags, at,
                                   size);
}

}  // namespace

int prepare(utofu_vcq_hdl_t vcq, const work_request& c, void* at, std::size_t& size) noexcept {
  switch (c.what) {
    case work_request::form::piggyback:
      return utofu_prepare_put_piggyback(vcq, c.to, data_of(c), c.there, c.bytes, c.edata, c.flags,
                                         at, &size);
    case work_request::form::put:
      return utofu_prepare_put(vcq, c.to, c.here, c.there, c.bytes, c.edata, c.flags, at, &size);
    case work_request::form::get:
      return utofu_prepare_get(vcq, c.to, c.here, c.there, c.bytes, c.edata, c.flags, at, &size);
    case work_request::form::atomic:
      return prepare_atomic(vcq, c, at, &size);
  }
  return UTOFU_ERR_INVALID_OP;
}

}  // namespace heddle::transport::utofu
