// SPDX-License-Identifier: BSD-3-Clause
/* softtofu.h - what the software TofuD device offers beyond uTofu. The vendor's library has none of
 * it: a program that uses it must do without where UTOFU is the vendor's. */
#ifndef SOFTTOFU_H
#define SOFTTOFU_H

#ifdef __cplusplus
extern "C" {
#endif

/* Prints the SOFTTOFU_* variables with their defaults and meanings. */
void softtofu_help(void);

/* Prints the machine that SOFTTOFU_JOB names: its processes and which CQs they have. Does not join.
 */
void softtofu_info(void);

/* The calling thread's clock with SOFTTOFU_MODEL=virtual, in nanoseconds; else 0. It counts what
 * the modelled machine would have needed for what the thread posted and for the notices it polled:
 * a model to compare two programs by, not a measurement of Fugaku. */
unsigned long softtofu_virtual_ns(void);

#ifdef __cplusplus
}
#endif

#endif /* SOFTTOFU_H */
