#include "tracing/operation.h"

#include <array>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "sync/published.h"

namespace heddle::trace {

constinit sync::published<const operation_hooks*> detail::hooks_now{nullptr};

struct operation_under_way {
  operation_info of;
  const operation_hooks* heard = nullptr;
  std::uint64_t begin = 0, mark = 0;
  std::uint32_t began_on = 0;
  bool recorded = false;
  completion done;
};

namespace {

/// Those that no thread keeps. Bounded: beyond it operations are not watched.
class store {
 public:
  static constexpr std::size_t at_a_time = 64, most = 1 << 16;
  static store& only() {
    static auto* const one = new store;
    return *one;
  }
  void take(std::vector<operation_under_way*>& into) {
    const std::lock_guard lock(mutex_);
    if (free_.empty()) grow();
    for (std::size_t i = 0; i < at_a_time && !free_.empty(); ++i) {
      into.push_back(free_.back());
      free_.pop_back();
    }
  }
  void give_back(std::vector<operation_under_way*>& from, std::size_t count) noexcept {
    const std::lock_guard lock(mutex_);
    for (; count != 0; --count) {
      free_.push_back(from.back());
      from.pop_back();
    }
  }

 private:
  void grow() {
    if (blocks_.size() * at_a_time >= most) return;
    free_.reserve((blocks_.size() + 1) * at_a_time);  // so that giving back cannot fail
    blocks_.push_back(std::make_unique<operation_under_way[]>(at_a_time));
    for (std::size_t i = 0; i < at_a_time; ++i) free_.push_back(&blocks_.back()[i]);
  }
  std::mutex mutex_;
  std::vector<std::unique_ptr<operation_under_way[]>> blocks_;
  std::vector<operation_under_way*> free_;
};

/// What a thread keeps of them, so that most cost no lock.
struct stock {
  std::vector<operation_under_way*> all;
  stock() { all.reserve(2 * store::at_a_time); }
  ~stock();
};
stock& my_stock() {
  static thread_local stock mine;
  return mine;
}

/// The one that the calling thread's next post takes, if it is posted; null: there is none yet.
constinit thread_local operation_under_way* spare = nullptr;

[[gnu::noinline]] void take_spare() noexcept {
  try {
    auto& all = my_stock().all;
    if (all.empty()) store::only().take(all);
    if (all.empty()) return;
    spare = all.back();
    all.pop_back();
  } catch (const std::bad_alloc&) {
  }
}

void give_back(operation_under_way& one) noexcept {
  if (spare == nullptr) {
    spare = &one;
    return;
  }
  auto& all = my_stock().all;
  if (all.size() == 2 * store::at_a_time) store::only().give_back(all, store::at_a_time);
  all.push_back(&one);  // there is room
}

stock::~stock() {
  if (spare != nullptr) all.push_back(std::exchange(spare, nullptr));
  store::only().give_back(all, all.size());
}

[[gnu::always_inline]] inline void add(scribe& by, event_kind kind, const operation_info& of,
                                       std::uint64_t begin, std::uint32_t began_on,
                                       status code) noexcept {
  event e;
  e.kind = kind;
  e.operation = of.kind;
  e.code = code;
  e.self = of.self;
  e.peer = of.peer;
  e.lane = of.lane;
  e.began_on = began_on;
  e.begin = begin;
  e.end = ticks();
  e.amount = of.bytes;
  e.tag = of.tag;
  by.add(e);
}

/// The completion of all that is watched.
void deliver(void* owner, std::uint64_t, const outcome& what) noexcept {
  auto& ended = *static_cast<operation_under_way*>(owner);
  operation_info of = ended.of;
  of.bytes = what.bytes;
  if (of.kind == operation_kind::recv && what.peer != any_source) {
    of.peer = what.peer;
    of.tag = what.tag;
  }
  if (ended.recorded)
    if (scribe* const by = scribe::mine(); by != nullptr)
      add(*by, event_kind::operation, of, ended.begin, ended.began_on, what.code);
  if (ended.heard != nullptr && ended.heard->end != nullptr)
    ended.heard->end(ended.heard->context, ended.mark, of, what.code);
  const completion done = ended.done;
  give_back(ended);
  done(what);
}

}  // namespace

[[gnu::noinline]] bool passes_by() noexcept {
  return sync::is_only(sync::special::watched) && !wants_next();
}

operation::operation(const operation_info& of) noexcept : of_(of), heard_(detail::hooks_now.get()) {
  // Where hooks want all, wants_next() has not counted.
  if (is_recorded() && (heard_ == nullptr || samples_next())) {
    count_sample_anew();
    by_ = scribe::mine();
  }
  if (heard_ != nullptr && heard_->begin != nullptr) mark_ = heard_->begin(heard_->context, of_);
  if (by_ == nullptr) return;
  by_->set_place({of.self, of.lane});
  begin_ = ticks();
}

/// What it returns is written now, since the operation may end before its post has been answered.
completion operation::instead_of(const completion& done) noexcept {
  if (spare == nullptr) [[unlikely]]
    take_spare();
  under_way_ = spare;
  if (under_way_ == nullptr) return done;  // too many, and this one is told of as if it ended now
  spare = nullptr;
  operation_under_way& mine = *under_way_;
  mine.of = of_;
  mine.heard = heard_;
  mine.begin = begin_;
  mine.mark = mark_;
  mine.recorded = by_ != nullptr;
  mine.began_on = mine.recorded ? by_->thread() : 0;
  mine.done = done;
  return {&deliver, under_way_, 0};
}

status operation::answered(status s) noexcept {
  if (s == status::posted && under_way_ != nullptr) return s;  // its end may have been already
  if (under_way_ != nullptr) give_back(*under_way_);
  end_at_once(s);
  return s;
}

void operation::end_at_once(status s) noexcept {
  if (by_ != nullptr && !is_busy(s)) add(*by_, event_kind::at_once, of_, begin_, 0, s);
  if (heard_ != nullptr && heard_->end != nullptr) heard_->end(heard_->context, mark_, of_, s);
}

bool stands_for(const completion& posted, const completion& done) noexcept {
  return posted.deliver == &deliver &&
         static_cast<const operation_under_way*>(posted.owner)->done == done;
}

}  // namespace heddle::trace

namespace heddle {

std::string_view name_of(operation_kind k) noexcept {
  constexpr std::array<std::string_view, 9> names{
      "put", "put_notify", "get", "atomic", "send", "recv", "call", "flush", "when_ready"};
  const auto i = static_cast<std::size_t>(k);
  return i < names.size() ? names[i] : "unknown";
}

void set_operation_hooks(const operation_hooks& hooks) {
  static std::mutex mutex;
  static auto* const all = new std::vector<std::unique_ptr<const operation_hooks>>;
  const std::lock_guard lock(mutex);
  const bool before = trace::detail::hooks_now.get() != nullptr;
  const bool now = hooks.begin != nullptr || hooks.end != nullptr;
  if (now)
    all->push_back(std::make_unique<const operation_hooks>(hooks));  // some operation's still
  trace::detail::hooks_now.set(now ? all->back().get() : nullptr);
  if (now && !before) trace::add_watcher();
  if (before && !now) trace::remove_watcher();
}

}  // namespace heddle
