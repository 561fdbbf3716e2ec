// SPDX-License-Identifier: BSD-3-Clause
/* answers_ask_in_c.h - the questions of answers_ask.h as C asks them. */
#ifndef HEDDLE_TESTS_CONTRACT_ANSWERS_ASK_IN_C_H
#define HEDDLE_TESTS_CONTRACT_ANSWERS_ASK_IN_C_H

#include <heddle/c.h>

#if defined(__cplusplus)
extern "C" {
#endif

struct question_in_c {
  heddle_lane* on;
  heddle_address at;
  const void* from;
  void* into;
  size_t bytes, header_bytes;
  heddle_rank peer;
  heddle_tag tag;
  uint64_t mask;
  uint16_t handler;
  heddle_completion which;
};

/* Of the try_ form, and of the blocking one. */
#define ASKED_IN_C(name)                                                       \
  heddle_status post_##name(const struct question_in_c* q, heddle_completion); \
  heddle_status wait_##name(const struct question_in_c* q);
ASKED_IN_C(put)
ASKED_IN_C(put_notify)
ASKED_IN_C(put_signal)
ASKED_IN_C(get)
ASKED_IN_C(fetch_add)
ASKED_IN_C(compare_swap)
ASKED_IN_C(add)
ASKED_IN_C(send)
ASKED_IN_C(recv)
ASKED_IN_C(call)
ASKED_IN_C(flush)
ASKED_IN_C(fence)
ASKED_IN_C(broadcast)
ASKED_IN_C(reduce)
ASKED_IN_C(allreduce)
ASKED_IN_C(gather)
ASKED_IN_C(allgather)
ASKED_IN_C(alltoall)
#undef ASKED_IN_C
heddle_status post_probe(const struct question_in_c* q, heddle_completion ended);
heddle_status post_cancel(const struct question_in_c* q, heddle_completion ended);
heddle_status wait_recv_for(const struct question_in_c* q);
heddle_status wait_match_for(const struct question_in_c* q);
heddle_status wait_flush_for(const struct question_in_c* q);
heddle_status wait_allreduce_floats(const struct question_in_c* q);

#if defined(__cplusplus)
}
#endif
#endif
