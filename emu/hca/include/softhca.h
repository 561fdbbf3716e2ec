// SPDX-License-Identifier: BSD-3-Clause
/* softhca.h - what the software device has beyond libibverbs: counts of what it was asked to do,
 * and a hand on its cables. For tests; programs that run on hardware as well look the functions up
 * by dlsym(). */
#ifndef SOFTHCA_H
#define SOFTHCA_H

#include <infiniband/verbs.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All since this process opened the device first, by whichever of its contexts. */
struct softhca_counters {
  uint64_t doorbells;     /* calls of ibv_post_send and ibv_wr_complete that posted */
  uint64_t work_requests; /* in them */
  uint64_t signalled;     /* completions of sends without an error */
  uint64_t inline_bytes;  /* copied by posting */
};

/* Any thread. 0, or EINVAL: not a context of such a device. */
int softhca_read_counters(struct ibv_context* context, struct softhca_counters* into);

/* Pulls the cable of a port (up 0) or plugs it in again, for all processes of this node. They get
 * IBV_EVENT_PORT_ERR or IBV_EVENT_PORT_ACTIVE; what goes through the port meanwhile is retried as
 * timeout and retry count say. Any thread. 0, or EINVAL: no such port. */
int softhca_set_port(struct ibv_context* context, unsigned port, int up);

/* Takes the device away, for all processes of this node: they get IBV_EVENT_DEVICE_FATAL, and what
 * is under way stays unanswered, as with a port that is down. It does not come back. Any thread. */
void softhca_remove_device(struct ibv_context* context);

#ifdef __cplusplus
}
#endif
#endif
