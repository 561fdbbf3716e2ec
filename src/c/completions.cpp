// SPDX-License-Identifier: BSD-3-Clause
// completions.cpp - c.h: statuses, errors, and the adapters that endings go to.
#include <heddle/info.h>

#include <cstdlib>
#include <cstring>
#include <new>
#include <string>

#include "c/convert.h"

using heddle::c::of;

struct heddle_flag {
  heddle::flag flag;
};
struct heddle_counter {
  heddle::counter counter;
};
struct heddle_queue {
  explicit heddle_queue(std::size_t capacity) : queue(capacity) {}
  heddle::completion_queue queue;
};
struct heddle_descriptor {
  heddle::event_descriptor descriptor;
};

namespace heddle::c {
namespace {

/// Of the calling thread. No std::string: the loader keeps little room for these.
thread_local char* last_error = nullptr;

struct error_owner {
  ~error_owner() {
    std::free(last_error);
    last_error = nullptr;
  }
};

}  // namespace

void remember_error(const char* why) noexcept {
  static thread_local const error_owner freed_with_the_thread;
  std::free(last_error);
  last_error = strdup(why);
}

}  // namespace heddle::c

const char* heddle_status_name(heddle_status s) {
  return s >= HEDDLE_DONE && s <= HEDDLE_TIMED_OUT
             ? heddle::name_of(static_cast<heddle::status>(s)).data()  // a literal
             : "unknown";
}
const char* heddle_error(void) {
  return heddle::c::last_error != nullptr ? heddle::c::last_error : "";
}
const char* heddle_library_version(void) {
  return heddle::version().data();  // a literal
}
int heddle_c_version(void) {
  return HEDDLE_C_VERSION;
}
void heddle_free(void* text_or_payload) {
  std::free(text_or_payload);
}

// --- adapters ----------------------------------------------------------------------------------

heddle_flag* heddle_flag_new(void) {
  return new (std::nothrow) heddle_flag;
}
void heddle_flag_free(heddle_flag* flag) {
  delete flag;
}
heddle_completion heddle_flag_completion(heddle_flag* flag) {
  return of(heddle::completion(flag->flag));
}
bool heddle_flag_ready(const heddle_flag* flag) {
  return flag->flag.ready();
}
heddle_outcome heddle_flag_result(const heddle_flag* flag) {
  return of(flag->flag.result());
}
void heddle_flag_reset(heddle_flag* flag) {
  flag->flag.reset();
}

heddle_counter* heddle_counter_new(void) {
  return new (std::nothrow) heddle_counter;
}
void heddle_counter_free(heddle_counter* counter) {
  delete counter;
}
heddle_completion heddle_counter_completion(heddle_counter* counter) {
  return of(heddle::completion(counter->counter));
}
uint64_t heddle_counter_count(const heddle_counter* counter) {
  return counter->counter.count();
}
heddle_status heddle_counter_first_failure(const heddle_counter* counter) {
  return of(counter->counter.first_failure());
}
heddle_status heddle_counter_track(heddle_counter* counter, heddle_status answer) {
  return of(counter->counter.track(static_cast<heddle::status>(answer)));
}
void heddle_counter_reset(heddle_counter* counter) {
  counter->counter.reset();
}

heddle_queue* heddle_queue_new(size_t capacity) {
  return heddle::c::or_failed(static_cast<heddle_queue*>(nullptr),
                              [&] { return new heddle_queue(capacity); });
}
void heddle_queue_free(heddle_queue* queue) {
  delete queue;
}
heddle_completion heddle_queue_completion(heddle_queue* queue, uint64_t cookie) {
  return of(queue->queue.with(cookie));
}
bool heddle_queue_pop(heddle_queue* queue, uint64_t* cookie, heddle_outcome* what) {
  heddle::completion_queue::entry taken;
  if (!queue->queue.try_pop(taken)) return false;
  *cookie = taken.cookie;
  *what = of(taken.what);
  return true;
}
uint64_t heddle_queue_delivered(const heddle_queue* queue) {
  return queue->queue.delivered();
}

heddle_descriptor* heddle_descriptor_open(void) {
  return heddle::c::or_failed(static_cast<heddle_descriptor*>(nullptr),
                              [] { return new heddle_descriptor; });
}
void heddle_descriptor_close(heddle_descriptor* descriptor) {
  delete descriptor;
}
heddle_completion heddle_descriptor_completion(heddle_descriptor* descriptor) {
  return of(heddle::completion(descriptor->descriptor));
}
int heddle_descriptor_fd(const heddle_descriptor* descriptor) {
  return descriptor->descriptor.fd();
}
uint64_t heddle_descriptor_take(heddle_descriptor* descriptor) {
  return descriptor->descriptor.take();
}
heddle_status heddle_descriptor_first_failure(const heddle_descriptor* descriptor) {
  return of(descriptor->descriptor.first_failure());
}

// --- waiting for them --------------------------------------------------------------------------

heddle_status heddle_wait_flag(heddle_lane* lane, heddle_flag* flag) {
  return of(of(lane).wait(flag->flag));
}
heddle_status heddle_wait_counter(heddle_lane* lane, heddle_counter* counter, uint64_t target) {
  return of(of(lane).wait(counter->counter, target));
}
void heddle_wait_queue(heddle_lane* lane, heddle_queue* queue, uint64_t target) {
  of(lane).wait(queue->queue, target);
}
bool heddle_wait_flag_for(heddle_lane* lane, heddle_flag* flag, int64_t limit_ns) {
  return of(lane).wait_for(flag->flag, std::chrono::nanoseconds(limit_ns));
}
bool heddle_wait_counter_for(heddle_lane* lane, heddle_counter* counter, uint64_t target,
                             int64_t limit_ns) {
  return of(lane).wait_for(counter->counter, target, std::chrono::nanoseconds(limit_ns));
}
bool heddle_wait_queue_for(heddle_lane* lane, heddle_queue* queue, uint64_t target,
                           int64_t limit_ns) {
  return of(lane).wait_for(queue->queue, target, std::chrono::nanoseconds(limit_ns));
}
