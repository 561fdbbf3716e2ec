#include "backends/utofu/descriptor.h"

namespace heddle::transport::utofu {
namespace {

utofu_armw_op armw_of(atomic_op op) noexcept {
  switch (op) {
    case atomic_op::add:
      return UTOFU_ARMW_OP_ADD;
    case atomic_op::bit_and:
      return UTOFU_ARMW_OP_AND;
    case atomic_op::bit_or:
      return UTOFU_ARMW_OP_OR;
    case atomic_op::bit_xor:
      return UTOFU_ARMW_OP_XOR;
    default:
      return UTOFU_ARMW_OP_SWAP;
  }
}

std::uint32_t low(std::uint64_t value) noexcept {
  return static_cast<std::uint32_t>(value);
}

/// The interface takes the data as void*, and only reads it.
void* data_of(const descriptor& d) noexcept {
  return const_cast<void*>(d.data);
}

int issue_atomic(utofu_vcq_hdl_t vcq, const descriptor& d) noexcept {
  if (d.atomic == atomic_op::compare_swap) {
    return d.width == 8
               ? utofu_cswap8(vcq, d.to, d.compare, d.operand, d.there, d.edata, d.flags, d.cookie)
               : utofu_cswap4(vcq, d.to, low(d.compare), low(d.operand), d.there, d.edata, d.flags,
                              d.cookie);
  }
  const utofu_armw_op op = armw_of(d.atomic);
  return d.width == 8
             ? utofu_armw8(vcq, d.to, op, d.operand, d.there, d.edata, d.flags, d.cookie)
             : utofu_armw4(vcq, d.to, op, low(d.operand), d.there, d.edata, d.flags, d.cookie);
}

int prepare_atomic(utofu_vcq_hdl_t vcq, const descriptor& d, void* at, std::size_t* size) noexcept {
  if (d.atomic == atomic_op::compare_swap) {
    return d.width == 8 ? utofu_prepare_cswap8(vcq, d.to, d.compare, d.operand, d.there, d.edata,
                                               d.flags, at, size)
                        : utofu_prepare_cswap4(vcq, d.to, low(d.compare), low(d.operand), d.there,
                                               d.edata, d.flags, at, size);
  }
  const utofu_armw_op op = armw_of(d.atomic);
  return d.width == 8
             ? utofu_prepare_armw8(vcq, d.to, op, d.operand, d.there, d.edata, d.flags, at, size)
             : utofu_prepare_armw4(vcq, d.to, op, low(d.operand), d.there, d.edata, d.flags, at,
                                   size);
}

}  // namespace

int issue(utofu_vcq_hdl_t vcq, const descriptor& d) noexcept {
  switch (d.what) {
    case descriptor::form::piggyback:
      return utofu_put_piggyback(vcq, d.to, data_of(d), d.there, d.bytes, d.edata, d.flags,
                                 d.cookie);
    case descriptor::form::put:
      return utofu_put(vcq, d.to, d.here, d.there, d.bytes, d.edata, d.flags, d.cookie);
    case descriptor::form::get:
      return utofu_get(vcq, d.to, d.here, d.there, d.bytes, d.edata, d.flags, d.cookie);
    case descriptor::form::atomic:
      return issue_atomic(vcq, d);
  }
  return UTOFU_ERR_INVALID_OP;
}

int prepare(utofu_vcq_hdl_t vcq, const descriptor& d, void* at, std::size_t& size) noexcept {
  switch (d.what) {
    case descriptor::form::piggyback:
      return utofu_prepare_put_piggyback(vcq, d.to, data_of(d), d.there, d.bytes, d.edata, d.flags,
                                         at, &size);
    case descriptor::form::put:
      return utofu_prepare_put(vcq, d.to, d.here, d.there, d.bytes, d.edata, d.flags, at, &size);
    case descriptor::form::get:
      return utofu_prepare_get(vcq, d.to, d.here, d.there, d.bytes, d.edata, d.flags, at, &size);
    case descriptor::form::atomic:
      return prepare_atomic(vcq, d, at, &size);
  }
  return UTOFU_ERR_INVALID_OP;
}

}  // namespace heddle::transport::utofu
