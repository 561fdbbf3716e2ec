/* SPDX-License-Identifier: BSD-3-Clause */
/* abi_check.c - fails to compile when utofu.h is not the interface that was published: every
 * number, every offset. Compiled as C and, by abi_check.cpp, as C++; against the vendor's header,
 * too, where there is one. */
#include <stddef.h>
#include <stdint.h>
#include <utofu.h>

#ifdef __cplusplus
#define CHECK(fact) static_assert(fact, #fact)
#else
#define CHECK(fact) _Static_assert(fact, #fact)
#endif

/* Flags and capabilities */
CHECK(UTOFU_VERSION_MAJOR == 1);
CHECK(UTOFU_VERSION_MINOR == 0);
CHECK(UTOFU_ONESIDED_CAP_FLAG_SESSION_MODE == 1);
CHECK(UTOFU_ONESIDED_CAP_FLAG_ARMW == 2);
CHECK(UTOFU_ONESIDED_CAP_ARMW_OP_CSWAP == 0x1);
CHECK(UTOFU_ONESIDED_CAP_ARMW_OP_SWAP == 0x2);
CHECK(UTOFU_ONESIDED_CAP_ARMW_OP_ADD == 0x4);
CHECK(UTOFU_ONESIDED_CAP_ARMW_OP_XOR == 0x8);
CHECK(UTOFU_ONESIDED_CAP_ARMW_OP_AND == 0x10);
CHECK(UTOFU_ONESIDED_CAP_ARMW_OP_OR == 0x20);
CHECK(UTOFU_BARRIER_CAP_REDUCE_OP_BARRIER == 0x2);
CHECK(UTOFU_BARRIER_CAP_REDUCE_OP_BAND == 0x4);
CHECK(UTOFU_BARRIER_CAP_REDUCE_OP_BOR == 0x8);
CHECK(UTOFU_BARRIER_CAP_REDUCE_OP_BXOR == 0x10);
CHECK(UTOFU_BARRIER_CAP_REDUCE_OP_MAX == 0x20);
CHECK(UTOFU_BARRIER_CAP_REDUCE_OP_MAXLOC == 0x40);
CHECK(UTOFU_BARRIER_CAP_REDUCE_OP_SUM == 0x80);
CHECK(UTOFU_BARRIER_CAP_REDUCE_OP_BFPSUM == 0x100);
CHECK(UTOFU_VCQ_FLAG_THREAD_SAFE == 1);
CHECK(UTOFU_VCQ_FLAG_EXCLUSIVE == 2);
CHECK(UTOFU_VCQ_FLAG_SESSION_MODE == 4);
CHECK(UTOFU_VBG_FLAG_THREAD_SAFE == 1);
CHECK(UTOFU_REG_MEM_FLAG_READ_ONLY == 1);
CHECK(UTOFU_ONESIDED_FLAG_STRONG_ORDER == 0x1);
CHECK(UTOFU_ONESIDED_FLAG_PACKET_RESPONSE == 0x2);
CHECK(UTOFU_ONESIDED_FLAG_REMOTE_MRQ_NOTICE == 0x4);
CHECK(UTOFU_ONESIDED_FLAG_PADDING == 0x8);
CHECK(UTOFU_ONESIDED_FLAG_CACHE_INJECTION == 0x20);
CHECK(UTOFU_ONESIDED_FLAG_DELAY_START == 0x100);
CHECK(UTOFU_ONESIDED_FLAG_TCQ_NOTICE == 0x4000);
CHECK(UTOFU_ONESIDED_FLAG_LOCAL_MRQ_NOTICE == 0x8000);
CHECK(UTOFU_ONESIDED_FLAG_SPS(1) == (1UL << 24));
CHECK(UTOFU_ONESIDED_FLAG_PATH(1) == (1UL << 28));
CHECK(UTOFU_VBG_ID_NULL == UINT64_MAX);
CHECK(UTOFU_PATH_COORD_NULL == UINT8_MAX);

/* Return codes */
CHECK(UTOFU_SUCCESS == 0);
CHECK(UTOFU_ERR_NOT_FOUND == -1);
CHECK(UTOFU_ERR_NOT_COMPLETED == -2);
CHECK(UTOFU_ERR_NOT_PROCESSED == -3);
CHECK(UTOFU_ERR_BUSY == -4);
CHECK(UTOFU_ERR_USED == -5);
CHECK(UTOFU_ERR_FULL == -6);
CHECK(UTOFU_ERR_NOT_AVAILABLE == -7);
CHECK(UTOFU_ERR_NOT_SUPPORTED == -8);
CHECK(UTOFU_ERR_TCQ_OTHER == -128);
CHECK(UTOFU_ERR_TCQ_DESC == -129);
CHECK(UTOFU_ERR_TCQ_MEMORY == -130);
CHECK(UTOFU_ERR_TCQ_STADD == -131);
CHECK(UTOFU_ERR_TCQ_LENGTH == -132);
CHECK(UTOFU_ERR_MRQ_OTHER == -192);
CHECK(UTOFU_ERR_MRQ_PEER == -193);
CHECK(UTOFU_ERR_MRQ_LCL_MEMORY == -194);
CHECK(UTOFU_ERR_MRQ_RMT_MEMORY == -195);
CHECK(UTOFU_ERR_MRQ_LCL_STADD == -196);
CHECK(UTOFU_ERR_MRQ_RMT_STADD == -197);
CHECK(UTOFU_ERR_MRQ_LCL_LENGTH == -198);
CHECK(UTOFU_ERR_MRQ_RMT_LENGTH == -199);
CHECK(UTOFU_ERR_BARRIER_OTHER == -256);
CHECK(UTOFU_ERR_BARRIER_MISMATCH == -257);
CHECK(UTOFU_ERR_OUT_OF_RESOURCE == -640);
CHECK(UTOFU_ERR_OUT_OF_MEMORY == -641);
CHECK(UTOFU_ERR_FATAL == -768);
CHECK(UTOFU_ERR_INVALID_ARG == -512);
CHECK(UTOFU_ERR_INVALID_POINTER == -513);
CHECK(UTOFU_ERR_INVALID_FLAGS == -514);
CHECK(UTOFU_ERR_INVALID_COORDS == -515);
CHECK(UTOFU_ERR_INVALID_PATH == -516);
CHECK(UTOFU_ERR_INVALID_TNI_ID == -517);
CHECK(UTOFU_ERR_INVALID_CQ_ID == -518);
CHECK(UTOFU_ERR_INVALID_BG_ID == -519);
CHECK(UTOFU_ERR_INVALID_CMP_ID == -520);
CHECK(UTOFU_ERR_INVALID_VCQ_HDL == -521);
CHECK(UTOFU_ERR_INVALID_VCQ_ID == -522);
CHECK(UTOFU_ERR_INVALID_VBG_ID == -523);
CHECK(UTOFU_ERR_INVALID_PATH_ID == -524);
CHECK(UTOFU_ERR_INVALID_STADD == -525);
CHECK(UTOFU_ERR_INVALID_ADDRESS == -526);
CHECK(UTOFU_ERR_INVALID_SIZE == -527);
CHECK(UTOFU_ERR_INVALID_STAG == -528);
CHECK(UTOFU_ERR_INVALID_EDATA == -529);
CHECK(UTOFU_ERR_INVALID_NUMBER == -530);
CHECK(UTOFU_ERR_INVALID_OP == -531);
CHECK(UTOFU_ERR_INVALID_DESC == -532);
CHECK(UTOFU_ERR_INVALID_DATA == -533);

/* Kinds of operations and notices */
CHECK(UTOFU_ARMW_OP_SWAP == 1);
CHECK(UTOFU_ARMW_OP_ADD == 2);
CHECK(UTOFU_ARMW_OP_XOR == 3);
CHECK(UTOFU_ARMW_OP_AND == 4);
CHECK(UTOFU_ARMW_OP_OR == 5);
CHECK(UTOFU_REDUCE_OP_BARRIER == 1);
CHECK(UTOFU_REDUCE_OP_BAND == 2);
CHECK(UTOFU_REDUCE_OP_BOR == 3);
CHECK(UTOFU_REDUCE_OP_BXOR == 4);
CHECK(UTOFU_REDUCE_OP_MAX == 5);
CHECK(UTOFU_REDUCE_OP_MAXLOC == 6);
CHECK(UTOFU_REDUCE_OP_SUM == 7);
CHECK(UTOFU_REDUCE_OP_BFPSUM == 8);
CHECK(UTOFU_MRQ_TYPE_LCL_PUT == 0);
CHECK(UTOFU_MRQ_TYPE_RMT_PUT == 1);
CHECK(UTOFU_MRQ_TYPE_LCL_GET == 2);
CHECK(UTOFU_MRQ_TYPE_RMT_GET == 3);
CHECK(UTOFU_MRQ_TYPE_LCL_ARMW == 4);
CHECK(UTOFU_MRQ_TYPE_RMT_ARMW == 5);

/* Types */
CHECK(sizeof(utofu_tni_id_t) == 2);
CHECK(sizeof(utofu_cq_id_t) == 2);
CHECK(sizeof(utofu_bg_id_t) == 2);
CHECK(sizeof(utofu_cmp_id_t) == 2);
CHECK(sizeof(utofu_vcq_hdl_t) == 8);
CHECK(sizeof(utofu_vcq_id_t) == 8);
CHECK(sizeof(utofu_vbg_id_t) == 8);
CHECK(sizeof(utofu_path_id_t) == 1);
CHECK(sizeof(utofu_stadd_t) == 8);

/* Structures */
CHECK(sizeof(struct utofu_onesided_caps) == 88);
CHECK(offsetof(struct utofu_onesided_caps, flags) == 0);
CHECK(offsetof(struct utofu_onesided_caps, armw_ops) == 8);
CHECK(offsetof(struct utofu_onesided_caps, num_cmp_ids) == 16);
CHECK(offsetof(struct utofu_onesided_caps, num_reserved_stags) == 20);
CHECK(offsetof(struct utofu_onesided_caps, cache_line_size) == 24);
CHECK(offsetof(struct utofu_onesided_caps, stag_address_alignment) == 32);
CHECK(offsetof(struct utofu_onesided_caps, max_toq_desc_size) == 40);
CHECK(offsetof(struct utofu_onesided_caps, max_putget_size) == 48);
CHECK(offsetof(struct utofu_onesided_caps, max_piggyback_size) == 56);
CHECK(offsetof(struct utofu_onesided_caps, max_edata_size) == 64);
CHECK(offsetof(struct utofu_onesided_caps, max_mtu) == 72);
CHECK(offsetof(struct utofu_onesided_caps, max_gap) == 80);
CHECK(sizeof(struct utofu_barrier_caps) == 32);
CHECK(offsetof(struct utofu_barrier_caps, flags) == 0);
CHECK(offsetof(struct utofu_barrier_caps, reduce_ops) == 8);
CHECK(offsetof(struct utofu_barrier_caps, max_uint64_reduction) == 16);
CHECK(offsetof(struct utofu_barrier_caps, max_double_reduction) == 24);
CHECK(sizeof(struct utofu_vbg_setting) == 48);
CHECK(offsetof(struct utofu_vbg_setting, vbg_id) == 0);
CHECK(offsetof(struct utofu_vbg_setting, src_lcl_vbg_id) == 8);
CHECK(offsetof(struct utofu_vbg_setting, src_rmt_vbg_id) == 16);
CHECK(offsetof(struct utofu_vbg_setting, dst_lcl_vbg_id) == 24);
CHECK(offsetof(struct utofu_vbg_setting, dst_rmt_vbg_id) == 32);
CHECK(offsetof(struct utofu_vbg_setting, dst_path_coords) == 40);
CHECK(sizeof(struct utofu_mrq_notice) == 64);
CHECK(offsetof(struct utofu_mrq_notice, notice_type) == 0);
CHECK(offsetof(struct utofu_mrq_notice, vcq_id) == 8);
CHECK(offsetof(struct utofu_mrq_notice, edata) == 16);
CHECK(offsetof(struct utofu_mrq_notice, rmt_value) == 24);
CHECK(offsetof(struct utofu_mrq_notice, lcl_stadd) == 32);
CHECK(offsetof(struct utofu_mrq_notice, rmt_stadd) == 40);
CHECK(offsetof(struct utofu_mrq_notice, reserved) == 48);
