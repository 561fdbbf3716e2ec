// lane_message.cpp - the short way: sends, calls and receives that can be done at once, without a
// command.
#include "engine/lane_core.h"

namespace heddle::engine {

using protocols::command;
using protocols::delivery_batch;

/// Nobody is asked whether to leave it to others.
inline bool lane_core::goes_inline(std::size_t bytes) const noexcept {
  return callers_drive_ && !model_.considers(bytes);
}

/// Lets go when nothing was added to the batch under the hold.
inline void lane_core::leave_free(delivery_batch& batch) noexcept {
  if (park_.is_armed() || !hold_.leave(&batch)) [[unlikely]] {
    release_slowly(batch);
    batch.run();
  }
}

status lane_core::send(rank to, tag t, std::span<const std::byte> data,
                       const completion& done) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  const bool held = goes_inline(data.size()) && enter(batch);
  if (!held || hold_.commands().pending() ||
      !port_.send_now(to, protocols::head_of_tagged(t), {}, data,
                      protocols::port::cost_of(data.size()))) [[unlikely]]
    return send_rest(to, t, data, done, held);
  leave_free(batch);
  return status::done;
}

status lane_core::call(rank to, handler_id h, std::span<const std::byte> header,
                       std::span<const std::byte> payload, const completion& done) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  const bool held = goes_inline(payload.size()) && enter(batch);
  if (!held || hold_.commands().pending() || h >= max_handlers || header.size() > max_call_header ||
      !port_.send_now(to, protocols::head_of_call(h, header.size()), header, payload, 0))
      [[unlikely]]
    return call_rest(to, h, header, payload, done, held);
  leave_free(batch);
  return status::done;
}

status lane_core::receive(rank from, const tag_match& t, std::span<std::byte> into,
                          const completion& done) noexcept {
  delivery_batch& batch = delivery_batch::mine();
  const bool held = goes_inline(into.size()) && enter(batch);
  if (!held || hold_.commands().pending() || detail::awaited::in(done) != nullptr) [[unlikely]]
    return receive_rest(from, t, into, done, held);
  const status s = port_.receive(from, t, into, done, batch);
  leave_free(batch);
  if (!batch.empty()) batch.run();
  return s;
}

/// Of what does not go the short way. `held`: the hold is the caller's.
status lane_core::send_rest(rank to, tag t, std::span<const std::byte> data, const completion& done,
                            bool held) noexcept {
  return submit_rest(protocols::send_command(to, t, data, done), held);
}
status lane_core::call_rest(rank to, handler_id h, std::span<const std::byte> header,
                            std::span<const std::byte> payload, const completion& done,
                            bool held) noexcept {
  return submit_rest(protocols::call_command(to, h, header, payload, done), held);
}
status lane_core::receive_rest(rank from, const tag_match& t, std::span<std::byte> into,
                               const completion& done, bool held) noexcept {
  return submit_rest(protocols::receive_command(from, t, into, done), held);
}
status lane_core::submit_rest(const command& c, bool held) noexcept {
  return held ? execute_held(c, delivery_batch::mine()) : submit(c);
}

}  // namespace heddle::engine
