// SPDX-License-Identifier: BSD-3-Clause
// api_barrier.cpp - barrier gates: barriers and reductions.
#include <cstring>

#include "api.h"
#include "gates.h"

namespace {

using namespace tofu;

/// Runs `f(machine)` for functions that take a gate and flags, of which there are none.
template <class F>
int with_gates(unsigned long int flags, const F& f) noexcept {
  if (flags != 0) return UTOFU_ERR_INVALID_FLAGS;
  return in_machine([&](const process& p) { return f(p.place()); });
}

bool is_uint64_op(utofu_reduce_op op) noexcept {
  return op >= UTOFU_REDUCE_OP_BAND && op <= UTOFU_REDUCE_OP_SUM;
}

gate_setting setting_from(const utofu_vbg_setting& s) noexcept {
  static_assert(gate_setting::no_gate == UTOFU_VBG_ID_NULL);
  return {{s.src_lcl_vbg_id, s.src_rmt_vbg_id}, {s.dst_lcl_vbg_id, s.dst_rmt_vbg_id}};
}

bool has_good_path(const machine& m, const utofu_vbg_setting& s) noexcept {
  const uint8_t* const path = s.dst_path_coords;
  return s.dst_rmt_vbg_id == UTOFU_VBG_ID_NULL || path[0] == UTOFU_PATH_COORD_NULL ||
         m.has_path(path);
}

}  // namespace

TOFU_API int utofu_query_barrier_caps(utofu_tni_id_t tni_id, struct utofu_barrier_caps** tni_caps) {
  static utofu_barrier_caps caps{
      .flags = 0,
      .reduce_ops = UTOFU_BARRIER_CAP_REDUCE_OP_BARRIER | UTOFU_BARRIER_CAP_REDUCE_OP_BAND |
                    UTOFU_BARRIER_CAP_REDUCE_OP_BOR | UTOFU_BARRIER_CAP_REDUCE_OP_BXOR |
                    UTOFU_BARRIER_CAP_REDUCE_OP_MAX | UTOFU_BARRIER_CAP_REDUCE_OP_MAXLOC |
                    UTOFU_BARRIER_CAP_REDUCE_OP_SUM | UTOFU_BARRIER_CAP_REDUCE_OP_BFPSUM,
      .max_uint64_reduction = max_uint64s,
      .max_double_reduction = max_doubles,
  };
  if (tni_caps == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (tni_id >= tnis_per_node) return UTOFU_ERR_INVALID_TNI_ID;
  *tni_caps = &caps;
  return UTOFU_SUCCESS;
}

TOFU_API int utofu_alloc_vbg(utofu_tni_id_t tni_id, size_t num_vbgs, unsigned long int flags,
                             utofu_vbg_id_t vbg_ids[]) {
  if (vbg_ids == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (tni_id >= tnis_per_node) return UTOFU_ERR_INVALID_TNI_ID;
  if (num_vbgs == 0) return UTOFU_ERR_INVALID_NUMBER;
  // Gates have a lock each, so they are thread-safe, asked or not.
  return with_gates(flags & ~UTOFU_VBG_FLAG_THREAD_SAFE,
                    [&](const machine& m) { return allocate_gates(m, tni_id, num_vbgs, vbg_ids); });
}

TOFU_API int utofu_free_vbg(utofu_vbg_id_t vbg_ids[], size_t num_vbgs) {
  if (vbg_ids == nullptr) return UTOFU_ERR_INVALID_POINTER;
  return with_gates(0, [&](const machine& m) { return free_gates(m, vbg_ids, num_vbgs); });
}

TOFU_API int utofu_set_vbg(struct utofu_vbg_setting vbg_settings[], size_t num_vbg_settings) {
  if (vbg_settings == nullptr) return UTOFU_ERR_INVALID_POINTER;
  return with_gates(0, [&](const machine& m) -> int {
    for (size_t i = 0; i < num_vbg_settings; ++i) {
      if (!has_good_path(m, vbg_settings[i])) return UTOFU_ERR_INVALID_PATH;
      const int rc = set_gate(m, vbg_settings[i].vbg_id, setting_from(vbg_settings[i]));
      if (rc != UTOFU_SUCCESS) return rc;
    }
    return UTOFU_SUCCESS;
  });
}

TOFU_API int utofu_query_vbg_info(utofu_vbg_id_t vbg_id, uint8_t coords[], utofu_tni_id_t* tni_id,
                                  utofu_bg_id_t* bg_id, uint16_t* extra_val) {
  if (coords == nullptr || tni_id == nullptr || bg_id == nullptr || extra_val == nullptr) {
    return UTOFU_ERR_INVALID_POINTER;
  }
  if (!looks_like_gate(vbg_id)) return UTOFU_ERR_INVALID_VBG_ID;
  const place p = place_of_gate(vbg_id);
  std::memcpy(coords, p.at.data(), p.at.size());
  *tni_id = static_cast<utofu_tni_id_t>(p.tni);
  *bg_id = static_cast<utofu_bg_id_t>(p.number);
  *extra_val = 0;
  return UTOFU_SUCCESS;
}

TOFU_API int utofu_barrier(utofu_vbg_id_t vbg_id, unsigned long int flags) {
  return with_gates(flags, [&](const machine& m) {
    signal first;
    first.op = UTOFU_REDUCE_OP_BARRIER;
    return start_gate(m, vbg_id, first);
  });
}

TOFU_API int utofu_reduce_uint64(utofu_vbg_id_t vbg_id, enum utofu_reduce_op op, uint64_t data[],
                                 size_t num_data, unsigned long int flags) {
  if (data == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (!is_uint64_op(op)) return UTOFU_ERR_INVALID_OP;
  if (num_data == 0 || num_data > max_uint64s) return UTOFU_ERR_INVALID_NUMBER;
  if (op == UTOFU_REDUCE_OP_MAXLOC && num_data % 2 != 0) return UTOFU_ERR_INVALID_NUMBER;
  return with_gates(flags, [&](const machine& m) {
    signal first;
    first.op = static_cast<std::uint8_t>(op);
    first.count = static_cast<std::uint8_t>(num_data);
    std::memcpy(first.words.data(), data, num_data * sizeof *data);
    return start_gate(m, vbg_id, first);
  });
}

TOFU_API int utofu_reduce_double(utofu_vbg_id_t vbg_id, enum utofu_reduce_op op, double data[],
                                 size_t num_data, unsigned long int flags) {
  if (data == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (op != UTOFU_REDUCE_OP_BFPSUM) return UTOFU_ERR_INVALID_OP;
  if (num_data == 0 || num_data > max_doubles) return UTOFU_ERR_INVALID_NUMBER;
  return with_gates(flags, [&](const machine& m) {
    signal first;
    first.op = UTOFU_REDUCE_OP_BFPSUM;
    first.count = static_cast<std::uint8_t>(num_data);
    for (size_t i = 0; i < num_data; ++i) first.sums[i].add(data[i]);
    return start_gate(m, vbg_id, first);
  });
}

TOFU_API int utofu_poll_barrier(utofu_vbg_id_t vbg_id, unsigned long int flags) {
  return with_gates(flags, [&](const machine& m) {
    signal result;
    return poll_gate(m, vbg_id, UTOFU_REDUCE_OP_BARRIER, result);
  });
}

TOFU_API int utofu_poll_reduce_uint64(utofu_vbg_id_t vbg_id, unsigned long int flags,
                                      uint64_t data[]) {
  if (data == nullptr) return UTOFU_ERR_INVALID_POINTER;
  return with_gates(flags, [&](const machine& m) {
    signal result;
    const int rc = poll_gate(m, vbg_id, UTOFU_REDUCE_OP_SUM, result);
    if (rc == UTOFU_SUCCESS) std::memcpy(data, result.words.data(), result.count * sizeof *data);
    return rc;
  });
}

TOFU_API int utofu_poll_reduce_double(utofu_vbg_id_t vbg_id, unsigned long int flags,
                                      double data[]) {
  if (data == nullptr) return UTOFU_ERR_INVALID_POINTER;
  return with_gates(flags, [&](const machine& m) {
    signal result;
    const int rc = poll_gate(m, vbg_id, UTOFU_REDUCE_OP_BFPSUM, result);
    for (size_t i = 0; rc == UTOFU_SUCCESS && i < result.count; ++i) {
      data[i] = result.sums[i].value();
    }
    return rc;
  });
}
