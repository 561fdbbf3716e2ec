// SPDX-License-Identifier: BSD-3-Clause
#include "tracing/recorder.h"

#include <unistd.h>

#include <mutex>
#include <new>
#include <utility>

namespace heddle::trace {

constinit thread_local std::uint64_t detail::since_sample = ~std::uint64_t{0};
constinit sync::owned_counter detail::recordings, detail::begun, detail::sample_now;
constinit thread_local thread_recorder* thread_recorder::of_thread = nullptr;

namespace {
constexpr std::size_t most_threads = 1024;
constinit thread_local role role_of_thread = role::owner;
}  // namespace

/// All there ever were. Threads come and go while nobody looks, so it is never destroyed.
class thread_recorders {
 public:
  static thread_recorders& all() {
    static auto* const only = new thread_recorders;
    return *only;
  }
  void watch(int more) noexcept {
    const std::lock_guard lock(mutex_);
    watchers_ += more;
    if (watchers_ == more && more > 0) sync::becomes(sync::special::watched);
    if (watchers_ == 0) sync::is_no_more(sync::special::watched);
  }
  std::vector<std::uint64_t> begin(std::uint32_t sample, std::size_t events) {
    const std::lock_guard lock(mutex_);
    if (detail::recordings.get() == 0) {
      detail::sample_now.set(sample);
      detail::begun.add();
      events_ = events;
    }
    std::vector<std::uint64_t> added;
    for (const auto& s : all_) added.push_back(s->ring_->added());
    detail::recordings.add();
    return added;
  }
  void end() noexcept {
    const std::lock_guard lock(mutex_);
    detail::recordings.subtract();
  }

  thread_recorder* take() noexcept {
    const std::lock_guard lock(mutex_);
    try {
      if (free_.empty() && all_.size() < most_threads) {
        free_.reserve(all_.size() + 1);  // so that giving back cannot fail
        auto made = std::make_unique<thread_recorder>();
        made->ring_ = std::make_unique<sync::event_ring>(events_);
        free_.push_back(all_.emplace_back(std::move(made)).get());
      }
    } catch (const std::bad_alloc&) {
    }
    if (free_.empty()) return nullptr;
    thread_recorder* const s = free_.back();
    free_.pop_back();
    s->thread_ = static_cast<std::uint32_t>(gettid());
    s->begin_anew();
    s->last_ = ticks();
    s->role_ = role_of_thread;
    s->place_ = {};
    return s;
  }
  void give_back(thread_recorder& s) noexcept {
    const std::lock_guard lock(mutex_);
    free_.push_back(&s);
  }
  template <class F>
  std::uint64_t each(const std::vector<std::uint64_t>& from, F&& f) {
    const std::lock_guard lock(mutex_);
    std::uint64_t lost = 0;
    for (std::size_t i = 0; i < all_.size(); ++i)
      lost += all_[i]->ring_->each(i < from.size() ? from[i] : 0, f);
    return lost;
  }

 private:
  std::mutex mutex_;  // guards what follows
  int watchers_ = 0;
  std::size_t events_ = 0;
  std::vector<std::unique_ptr<thread_recorder>> all_;
  std::vector<thread_recorder*> free_;
};

/// The calling thread's, which is given back at its end.
struct borrowed_recorder {
  thread_recorder* by = nullptr;
  ~borrowed_recorder() {
    thread_recorder::of_thread = nullptr;
    if (by != nullptr) thread_recorders::all().give_back(*by);
  }
};

[[gnu::noinline]] thread_recorder* thread_recorder::make_mine() noexcept {
  static constinit thread_local bool asked = false;  // also after the thread's objects have gone
  if (!is_recorded() || std::exchange(asked, true)) return nullptr;
  static thread_local borrowed_recorder held;
  held.by = of_thread = thread_recorders::all().take();
  return of_thread;
}

[[gnu::noinline]] void thread_recorder::begin_anew() noexcept {
  began_in_ = detail::begun.get();
  since_turn_ = ~std::uint64_t{0};
  untimed_left_ = 0;
}

bool thread_recorder::samples_turn() noexcept {
  const bool due = since_turn_ >= detail::sample_now.get();
  since_turn_ = due ? 1 : since_turn_ + 1;
  return due;
}

void this_thread_is(role r) noexcept {
  role_of_thread = r;
}

namespace {
thread_recorder* mine_if_recorded() noexcept {
  return is_recorded() ? thread_recorder::mine() : nullptr;
}
}  // namespace

void note(event_kind kind, std::int32_t peer, std::uint64_t amount) noexcept {
  thread_recorder* const by = mine_if_recorded();
  if (by == nullptr) return;
  event e;
  e.kind = kind;
  e.self = by->where().self;
  e.lane = by->where().lane;
  e.peer = peer;
  e.amount = amount;
  e.began_on = by->thread();
  e.begin = e.end = ticks();
  by->add(e);
}

void note_at(event_kind kind, place where, std::uint64_t amount) noexcept {
  thread_recorder* const by = mine_if_recorded();
  if (by == nullptr) return;
  by->set_place(where);
  note(kind, -1, amount);
}

void span::begin(event_kind kind, place where, bool sampled) noexcept {
  thread_recorder* const by = mine_if_recorded();
  if (by == nullptr) return;
  by->set_place(where);
  if (sampled && !by->samples_turn()) return;
  by_ = by;
  kind_ = kind;
  where_ = where;
  begin_ = ticks();
}

void span::end() noexcept {
  if (kind_ == event_kind::sleep) by_->time_next();
  event e;
  e.kind = kind_;
  e.self = where_.self;
  e.lane = where_.lane;
  e.amount = amount_;
  e.began_on = by_->thread();
  e.begin = begin_;
  e.end = ticks();
  by_->add(e);
}

recording::recording(std::uint32_t sample, std::size_t events)
    : added_before_(thread_recorders::all().begin(sample, events)) {
  thread_recorders::all().watch(1);
}

recording::~recording() {
  thread_recorders::all().watch(-1);
  thread_recorders::all().end();
}

std::uint64_t recording::each(std::int32_t self, const std::function<void(const event&)>& f) const {
  return thread_recorders::all().each(added_before_, [&](const sync::event_ring::record& r) {
    const event e = event::unpacked(r);
    if (e.self == self && e.end >= began_.ticks) f(e);
  });
}

void add_watcher() noexcept {
  thread_recorders::all().watch(1);
}
void remove_watcher() noexcept {
  thread_recorders::all().watch(-1);
}

}  // namespace heddle::trace
