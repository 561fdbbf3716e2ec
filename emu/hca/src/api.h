// SPDX-License-Identifier: BSD-3-Clause
// api.h - what the functions of libibverbs have in common.
#pragma once
#include <infiniband/verbs.h>

/// Exported under its plain name: programs that ask for a versioned one get it too.
#define SOFTHCA_API extern "C" __attribute__((visibility("default")))
