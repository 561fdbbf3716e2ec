// tag_mover.h - Heddle's side of an overlap: two ranks that move one message at a time by tag.
#pragma once
#include <heddle/heddle.h>

#include <cstdint>

#include "bench/memory.h"
#include "bench/overlap_pass.h"
#include "bench/station.h"

namespace heddle::bench {

/// The even rank of a pair sends, the other one has posted its receive before.
class tag_mover final : public overlap_side {
 public:
  /// Throws heddle::error.
  tag_mover(station& at, std::uint64_t bytes, buffer_kind where);
  void prepare() override;
  void post() override;
  void wait() override;

 private:
  station& at_;
  lane& lane_;
  buffer memory_;
  flag ended_;
  status posted_ = status::done;
};

}  // namespace heddle::bench
