// api_barrier.cpp - barrier gates: not there yet.
#include "api.h"

TOFU_API int utofu_query_barrier_caps(utofu_tni_id_t, struct utofu_barrier_caps**) {
  return UTOFU_ERR_NOT_SUPPORTED;
}
TOFU_API int utofu_alloc_vbg(utofu_tni_id_t, size_t, unsigned long int, utofu_vbg_id_t[]) {
  return UTOFU_ERR_NOT_SUPPORTED;
}
TOFU_API int utofu_free_vbg(utofu_vbg_id_t[], size_t) {
  return UTOFU_ERR_NOT_SUPPORTED;
}
TOFU_API int utofu_set_vbg(struct utofu_vbg_setting[], size_t) {
  return UTOFU_ERR_NOT_SUPPORTED;
}
TOFU_API int utofu_query_vbg_info(utofu_vbg_id_t, uint8_t[], utofu_tni_id_t*, utofu_bg_id_t*,
                                  uint16_t*) {
  return UTOFU_ERR_NOT_SUPPORTED;
}
TOFU_API int utofu_barrier(utofu_vbg_id_t, unsigned long int) {
  return UTOFU_ERR_NOT_SUPPORTED;
}
TOFU_API int utofu_reduce_uint64(utofu_vbg_id_t, enum utofu_reduce_op, uint64_t[], size_t,
                                 unsigned long int) {
  return UTOFU_ERR_NOT_SUPPORTED;
}
TOFU_API int utofu_reduce_double(utofu_vbg_id_t, enum utofu_reduce_op, double[], size_t,
                                 unsigned long int) {
  return UTOFU_ERR_NOT_SUPPORTED;
}
TOFU_API int utofu_poll_barrier(utofu_vbg_id_t, unsigned long int) {
  return UTOFU_ERR_NOT_SUPPORTED;
}
TOFU_API int utofu_poll_reduce_uint64(utofu_vbg_id_t, unsigned long int, uint64_t[]) {
  return UTOFU_ERR_NOT_SUPPORTED;
}
TOFU_API int utofu_poll_reduce_double(utofu_vbg_id_t, unsigned long int, double[]) {
  return UTOFU_ERR_NOT_SUPPORTED;
}
