// SPDX-License-Identifier: BSD-3-Clause
// unmap_hooks.h - munmap() and the like, as programs and libraries call them: tells the monitor,
// then does what libc does.
//
// Nothing stands in for these functions until a monitor is started, so a program that uses no
// network with a registration cache is left alone. Whoever else stands in for them, be it a
// sanitizer or another library, goes on being called.
#pragma once

namespace heddle::memory {

/// From now on these calls, by all objects that are loaded, pass through here. Called again, by
/// those loaded since, too. Waits for loading that is under way, so the caller must hold no lock
/// that a library's constructor could want. One thread at a time.
void hook_memory_calls();

}  // namespace heddle::memory
