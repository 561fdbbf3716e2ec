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

/* Made up, of this rank's. */
uint64_t number(heddle_rank r, size_t i);
/* How an operation ended that had this answer, and whose end `flag` tells. */
heddle_status end_of(heddle_flag* flag, heddle_status answer);

/* blocks.c: many blocks at once, in puts, gets and messages. */
void blocks(void);
/* collectives.c: of all ranks, and of groups. */
void collectives(void);
void groups(void);
/* messages.c: tagged ones. */
void messages(void);
/* observing.c: counters, and hooks. */
void observing(void);
/* placing.c: calls whose handler chooses where the payload goes. */
void placed_calls(void);
/* waiting.c: how ends are told, order, and limits. */
void endings(void);
void order(void);
void limits(void);

#endif
