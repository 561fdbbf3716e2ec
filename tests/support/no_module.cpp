// SPDX-License-Identifier: BSD-3-Clause
// no_module.cpp - a shared object that is no module of Heddle's.
extern "C" [[gnu::visibility("default")]] int heddle_says_nothing() {
  return 0;
}
