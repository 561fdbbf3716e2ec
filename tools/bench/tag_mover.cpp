// tag_mover.cpp - the receive first, a word about it, then the message.
#include "bench/tag_mover.h"

namespace heddle::bench {

tag_mover::tag_mover(station& at, std::uint64_t bytes, buffer_kind where)
    : at_(at), lane_(at.first_lane()), memory_(at.job(), bytes, where, false) {}

void tag_mover::prepare() {
  const tag ready = tag_of(purpose::ready, 0);
  if (at_.initiates()) require(lane_.recv(at_.peer(), ready, {}).code, "hear of the receive");
  ended_.reset();
}

void tag_mover::post() {
  const tag data = tag_of(purpose::data, 0);
  posted_ = at_.initiates() ? lane_.try_send(at_.peer(), data, memory_.bytes(), ended_)
                            : lane_.try_recv(at_.peer(), data, memory_.bytes(), ended_);
  require(posted_, "post");
  if (!at_.initiates()) {
    require(lane_.send(at_.peer(), tag_of(purpose::ready, 0), {}), "tell of the receive");
  }
}

void tag_mover::wait() {
  if (posted_ == status::posted) require(lane_.wait(ended_), "complete");
}

}  // namespace heddle::bench
