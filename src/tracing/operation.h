// operation.h - an operation that somebody watches, from its post to its end.
//
// What is posted instead of the program's completion is one of ours, which writes down the end and
// then runs the program's. So nothing below the lane's calls knows of it.
#pragma once
#include <heddle/completion.h>
#include <heddle/trace.h>

#include <cstdint>

#include "sync/published.h"
#include "tracing/recorder.h"

namespace heddle::trace {

struct operation_under_way;

namespace detail {
extern constinit sync::published<const operation_hooks*> hooks_now;
}

/// False: nothing of the calling thread's next operation is to be told. Only while is_watched().
[[nodiscard]] inline bool wants_next() noexcept {
  return detail::hooks_now.get() != nullptr || samples_next();
}

/// For a call of a lane: somebody watches, nothing else is special, and the operation is not
/// wanted. False as well where it is wanted, and then it is counted: wants_next() is not asked
/// again.
[[nodiscard]] bool passes_by() noexcept;

/// Where wants_next(), once for it. On the stack of the call that posts.
class operation {
 public:
  explicit operation(const operation_info& of) noexcept;

  /// What to post with; `done` itself where nobody is to hear of the end.
  [[nodiscard]] completion instead_of(const completion& done) noexcept;
  /// The answer to the post; returns it.
  status answered(status s) noexcept;

 private:
  void end_at_once(status s) noexcept;

  const operation_info of_;
  scribe* by_ = nullptr;                    // null: it is not recorded
  const operation_hooks* heard_ = nullptr;  // null: no tool listens
  operation_under_way* under_way_ = nullptr;
  std::uint64_t begin_ = 0, mark_ = 0;
};

/// Whether `posted` is what was posted instead of `done`, for an operation that has not ended.
[[nodiscard]] bool stands_for(const completion& posted, const completion& done) noexcept;

}  // namespace heddle::trace
