// SPDX-License-Identifier: BSD-3-Clause
// version.h - the version of these headers, for programs that are built with several. That of the
// library a program runs with, which may be newer: heddle::version() in info.h.
#pragma once

// The build reads them from here.
#define HEDDLE_VERSION_MAJOR 0
#define HEDDLE_VERSION_MINOR 1
#define HEDDLE_VERSION_PATCH 0
/// "0.1.0"
#define HEDDLE_VERSION_STRING "0.1.0"

/// A version as a number, for #if: HEDDLE_VERSION >= HEDDLE_VERSION_NUMBER(0, 2, 0).
#define HEDDLE_VERSION_NUMBER(major, minor, patch) ((major)*10000 + (minor)*100 + (patch))
#define HEDDLE_VERSION \
  HEDDLE_VERSION_NUMBER(HEDDLE_VERSION_MAJOR, HEDDLE_VERSION_MINOR, HEDDLE_VERSION_PATCH)
