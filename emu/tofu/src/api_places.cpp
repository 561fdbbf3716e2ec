// SPDX-License-Identifier: BSD-3-Clause
// api_places.cpp - TNIs, VCQs, ids, paths and the process's own place.
#include <cstdlib>
#include <cstring>

#include "api.h"

namespace {

using namespace tofu;

constexpr unsigned long vcq_flags =
    UTOFU_VCQ_FLAG_THREAD_SAFE | UTOFU_VCQ_FLAG_EXCLUSIVE | UTOFU_VCQ_FLAG_SESSION_MODE;

int list_tnis(utofu_tni_id_t** tni_ids, size_t* num_tnis) noexcept {
  if (tni_ids == nullptr || num_tnis == nullptr) return UTOFU_ERR_INVALID_POINTER;
  // The program frees it, so malloc.
  auto* const ids = static_cast<utofu_tni_id_t*>(std::malloc(tnis_per_node * sizeof **tni_ids));
  if (ids == nullptr) return UTOFU_ERR_OUT_OF_MEMORY;
  for (unsigned tni = 0; tni < tnis_per_node; ++tni) ids[tni] = static_cast<utofu_tni_id_t>(tni);
  *tni_ids = ids;
  *num_tnis = tnis_per_node;
  return UTOFU_SUCCESS;
}

int create(utofu_tni_id_t tni_id, std::optional<unsigned> cmp, unsigned long int flags,
           utofu_vcq_hdl_t* vcq_hdl) noexcept {
  if (vcq_hdl == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (tni_id >= tnis_per_node) return UTOFU_ERR_INVALID_TNI_ID;
  if (cmp && *cmp >= cmp_ids) return UTOFU_ERR_INVALID_CMP_ID;
  if ((flags & ~vcq_flags) != 0) return UTOFU_ERR_INVALID_FLAGS;
  if ((flags & UTOFU_VCQ_FLAG_SESSION_MODE) != 0) return UTOFU_ERR_NOT_SUPPORTED;
  return in_machine([&](process& p) { return p.create_vcq(tni_id, cmp, flags, *vcq_hdl); });
}

coordinates coordinates_from(const uint8_t* coords) noexcept {
  coordinates at{};
  std::memcpy(at.data(), coords, at.size());
  return at;
}

/// The path ids of `path_coords`; nullptr, or no first coordinate, is the default path.
int path_of(const machine& m, const uint8_t* path_coords, unsigned& path) noexcept {
  path = 0;
  if (path_coords == nullptr || path_coords[0] == UTOFU_PATH_COORD_NULL) return UTOFU_SUCCESS;
  if (!m.has_path(path_coords)) return UTOFU_ERR_INVALID_PATH;
  path = path_id_of(path_coords);
  return UTOFU_SUCCESS;
}

}  // namespace

TOFU_API int utofu_get_onesided_tnis(utofu_tni_id_t** tni_ids, size_t* num_tnis) {
  return list_tnis(tni_ids, num_tnis);
}

TOFU_API int utofu_get_barrier_tnis(utofu_tni_id_t** tni_ids, size_t* num_tnis) {
  return list_tnis(tni_ids, num_tnis);
}

TOFU_API int utofu_query_onesided_caps(utofu_tni_id_t tni_id,
                                       struct utofu_onesided_caps** tni_caps) {
  static utofu_onesided_caps caps{
      .flags = UTOFU_ONESIDED_CAP_FLAG_ARMW,
      .armw_ops = UTOFU_ONESIDED_CAP_ARMW_OP_CSWAP | UTOFU_ONESIDED_CAP_ARMW_OP_SWAP |
                  UTOFU_ONESIDED_CAP_ARMW_OP_ADD | UTOFU_ONESIDED_CAP_ARMW_OP_XOR |
                  UTOFU_ONESIDED_CAP_ARMW_OP_AND | UTOFU_ONESIDED_CAP_ARMW_OP_OR,
      .num_cmp_ids = cmp_ids,
      .num_reserved_stags = reserved_tags,
      .cache_line_size = 256,
      .stag_address_alignment = 256,
      .max_toq_desc_size = sizeof(descriptor),
      .max_putget_size = max_length,
      .max_piggyback_size = max_piggyback,
      .max_edata_size = 1,
      .max_mtu = max_mtu,
      .max_gap = max_gap,
  };
  if (tni_caps == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (tni_id >= tnis_per_node) return UTOFU_ERR_INVALID_TNI_ID;
  *tni_caps = &caps;
  return UTOFU_SUCCESS;
}

TOFU_API int utofu_create_vcq(utofu_tni_id_t tni_id, unsigned long int flags,
                              utofu_vcq_hdl_t* vcq_hdl) {
  return create(tni_id, std::nullopt, flags, vcq_hdl);
}

TOFU_API int utofu_create_vcq_with_cmp_id(utofu_tni_id_t tni_id, utofu_cmp_id_t cmp_id,
                                          unsigned long int flags, utofu_vcq_hdl_t* vcq_hdl) {
  return create(tni_id, cmp_id, flags, vcq_hdl);
}

TOFU_API int utofu_free_vcq(utofu_vcq_hdl_t vcq_hdl) {
  return guarded([&] { return process::get().free_vcq(vcq_hdl); });
}

TOFU_API int utofu_query_vcq_id(utofu_vcq_hdl_t vcq_hdl, utofu_vcq_id_t* vcq_id) {
  if (vcq_id == nullptr) return UTOFU_ERR_INVALID_POINTER;
  return with_vcq(vcq_hdl, [&](const vcq& one) {
    *vcq_id = one.id;
    return UTOFU_SUCCESS;
  });
}

TOFU_API int utofu_construct_vcq_id(uint8_t coords[], utofu_tni_id_t tni_id, utofu_cq_id_t cq_id,
                                    utofu_cmp_id_t cmp_id, utofu_vcq_id_t* vcq_id) {
  if (coords == nullptr || vcq_id == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (tni_id >= tnis_per_node) return UTOFU_ERR_INVALID_TNI_ID;
  if (cq_id >= cqs_per_tni) return UTOFU_ERR_INVALID_CQ_ID;
  if (cmp_id >= cmp_ids) return UTOFU_ERR_INVALID_CMP_ID;
  return in_machine([&](const process& p) -> int {
    const coordinates at = coordinates_from(coords);
    if (!p.place().node_at(at)) return UTOFU_ERR_INVALID_COORDS;
    *vcq_id = vcq_id_of({at, tni_id, cq_id, cmp_id});
    return UTOFU_SUCCESS;
  });
}

TOFU_API int utofu_set_vcq_id_path(utofu_vcq_id_t* vcq_id, uint8_t path_coords[]) {
  if (vcq_id == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (!looks_like_vcq(*vcq_id)) return UTOFU_ERR_INVALID_VCQ_ID;
  return in_machine([&](const process& p) {
    unsigned path = 0;
    const int rc = path_of(p.place(), path_coords, path);
    if (rc == UTOFU_SUCCESS) *vcq_id = without_path(*vcq_id) | std::uint64_t{path} << path_shift;
    return rc;
  });
}

TOFU_API int utofu_query_vcq_info(utofu_vcq_id_t vcq_id, uint8_t coords[], utofu_tni_id_t* tni_id,
                                  utofu_cq_id_t* cq_id, uint16_t* extra_val) {
  if (coords == nullptr || tni_id == nullptr || cq_id == nullptr || extra_val == nullptr) {
    return UTOFU_ERR_INVALID_POINTER;
  }
  if (!looks_like_vcq(vcq_id)) return UTOFU_ERR_INVALID_VCQ_ID;
  const place p = place_of_vcq(vcq_id);
  std::memcpy(coords, p.at.data(), p.at.size());
  *tni_id = static_cast<utofu_tni_id_t>(p.tni);
  *cq_id = static_cast<utofu_cq_id_t>(p.number);
  *extra_val = static_cast<uint16_t>(p.cmp);
  return UTOFU_SUCCESS;
}

TOFU_API int utofu_get_path_id(utofu_vcq_id_t vcq_id, uint8_t path_coords[],
                               utofu_path_id_t* path_id) {
  if (path_id == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (!looks_like_vcq(vcq_id)) return UTOFU_ERR_INVALID_VCQ_ID;
  return in_machine([&](const process& p) {
    unsigned path = 0;
    const int rc = path_of(p.place(), path_coords, path);
    if (rc == UTOFU_SUCCESS) *path_id = static_cast<utofu_path_id_t>(path);
    return rc;
  });
}

TOFU_API int utofu_get_path_coords(utofu_vcq_id_t vcq_id, utofu_path_id_t path_id,
                                   uint8_t path_coords[]) {
  if (path_coords == nullptr) return UTOFU_ERR_INVALID_POINTER;
  if (!looks_like_vcq(vcq_id)) return UTOFU_ERR_INVALID_VCQ_ID;
  if (!is_path_id(path_id)) return UTOFU_ERR_INVALID_PATH_ID;
  if (path_id == 0) {
    std::memset(path_coords, UTOFU_PATH_COORD_NULL, 3);
    return UTOFU_SUCCESS;
  }
  path_coords[0] = path_id & 1;
  path_coords[1] = path_id >> 1 & 3;
  path_coords[2] = path_id >> 3 & 1;
  return UTOFU_SUCCESS;
}

TOFU_API void utofu_query_tofu_version(int* major_ver, int* minor_ver) {
  if (major_ver != nullptr) *major_ver = 4;  // Tofu Interconnect D is the fourth
  if (minor_ver != nullptr) *minor_ver = 0;
}

TOFU_API void utofu_query_utofu_version(int* major_ver, int* minor_ver) {
  if (major_ver != nullptr) *major_ver = UTOFU_VERSION_MAJOR;
  if (minor_ver != nullptr) *minor_ver = UTOFU_VERSION_MINOR;
}

TOFU_API int utofu_query_my_coords(uint8_t coords[]) {
  if (coords == nullptr) return UTOFU_ERR_INVALID_POINTER;
  return in_machine([&](const process& p) {
    const coordinates at = p.place().coordinates_of(p.place().node());
    std::memcpy(coords, at.data(), at.size());
    return UTOFU_SUCCESS;
  });
}
