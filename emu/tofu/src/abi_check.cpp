// SPDX-License-Identifier: BSD-3-Clause
// abi_check.cpp - the same facts seen by C++.
#include "abi_check.c"  // NOLINT(bugprone-suspicious-include): on purpose
