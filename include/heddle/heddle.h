// SPDX-License-Identifier: BSD-3-Clause
// heddle.h - everything an application needs.
#pragma once
#include <heddle/blocks.h>
#include <heddle/collectives.h>
#include <heddle/completion.h>
#include <heddle/coroutine.h>
#include <heddle/counters.h>
#include <heddle/group.h>
#include <heddle/lane.h>
#include <heddle/log.h>
#include <heddle/matched_message.h>
#include <heddle/memory.h>
#include <heddle/status.h>
#include <heddle/task.h>
#include <heddle/trace.h>
#include <heddle/types.h>
#include <heddle/version.h>
#include <heddle/world.h>
