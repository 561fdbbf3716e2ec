/* SPDX-License-Identifier: BSD-3-Clause */
/* everything.h - what the parts of everything.c share. */
#ifndef HEDDLE_TESTS_C_EVERYTHING_H
#define HEDDLE_TESTS_C_EVERYTHING_H

#include <heddle/c.h>
#include <stdio.h>

extern int wrong;
#define EXPECT(what)                                                     \
  do {                                                                   \
    if (!(what)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #what); \
      wrong = 1;                                                         \
    }                                                                    \
  } while (0)

extern heddle_world* world;
extern heddle_lane* lane;
extern heddle_rank me, next, before;
extern int ranks;

/* waiting.c: how ends are told, order, and limits. */
void endings(void);
void order(void);
void limits(void);

#endif
