// SPDX-License-Identifier: BSD-3-Clause
// nobody_drives.h - makes operations queue up, by a test that says when.
#pragma once
#include <heddle/heddle.h>

#include <atomic>
#include <thread>

namespace heddle::test {

/// In mode dedicated, with one executor: while `body` hands in operations that executor stands in a
/// completion of the lane `aside`, so that it finds all of them at once. `body` must not wait for
/// any.
template <class F>
void while_nobody_drives(lane& aside, F&& body) {
  std::atomic<bool> entered = false, open = false, left = false;
  callback stand([&](const outcome&) {
    entered = true;
    while (!open) std::this_thread::yield();
    left = true;
  });
  aside.when_ready(stand);
  while (!entered) std::this_thread::yield();
  body();
  open = true;
  while (!left) std::this_thread::yield();
}

}  // namespace heddle::test
