// SPDX-License-Identifier: BSD-3-Clause
// connection.cpp - reading one connection: taking bytes in, and payloads to where they belong.
#include "backends/tcp/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::transport::tcp {
namespace {

constexpr std::size_t turn_bytes = 1024 * 1024;  // read per poll, for fairness
// One read into a region keeps it pinned, so it is bounded.
constexpr std::size_t pinned_bytes = 512 * 1024;
// Read beyond a payload: the header after it, and small frames.
constexpr std::size_t beyond_bytes = 4096;
// More than a socket holds: what has arrived when a peer is lost, not what it goes on sending.
constexpr std::uint64_t last_words_bytes = 16 * 1024 * 1024;

}  // namespace

// A long one is written straight from the caller's memory where nothing goes before; copied is what
// the socket does not take. If it is broken, the next flush will find that too.
status connection::send(message_head head, std::span<const std::byte> header,
                        std::span<const std::byte> data) noexcept {
  const std::size_t bytes = sizeof head + header.size() + data.size();
  if (bytes > max_message) return status::invalid;
  if (!out_.has_room(common_header + bytes)) return status::busy_queue;
  std::array<std::byte, common_header> frame;
  write_message(frame.data(), static_cast<std::uint32_t>(bytes));
  const std::array<std::span<const std::byte>, 4> parts{frame, std::as_bytes(std::span(&head, 1)),
                                                        header, data};
  std::size_t gone = 0;
  if (bytes > copy_bytes && out_.empty()) {
    std::array<iovec, 4> all;
    for (std::size_t i = 0; i < parts.size(); ++i)
      all[i] = {const_cast<std::byte*>(parts[i].data()), parts[i].size()};
    gone = stream_.transmit(all).bytes;
    out_.written += gone;
  }
  for (const auto& part : parts) {
    const auto rest = part.subspan(std::min(gone, part.size()));
    gone -= part.size() - rest.size();
    if (!rest.empty()) copy_few(out_.frames.extend(rest.size()), rest);
  }
  return status::done;
}

connection::reading connection::receive(event_sink& sink) noexcept {
  const std::size_t before = sink.count;
  std::size_t turn = turn_bytes;
  bool read_all = false;
  for (;;) {
    if (missing_ == 0 && !in_.empty()) {
      const taken t = take_frames(sink);
      if (t == taken::rules_broken) return reading::broken;
      if (t == taken::sink_full) return target_.write_ack() ? reading::more : reading::broken;
    }
    if (!target_.write_ack()) return reading::broken;
    if (read_all) return reading::some;
    // What was handed out lies in the buffer, so nothing can be read over it.
    if (turn == 0 || sink.count != before) return reading::more;
    std::size_t asked = 0;
    const transferred got = read_some(asked);
    if (got.kind == transferred::kind_t::none) return reading::quiet;
    if (got.kind != transferred::kind_t::some) [[unlikely]] {
      last_read_ = got;
      return got.kind == transferred::kind_t::ended ? reading::ended : reading::broken;
    }
    received += got.bytes;
    turn -= std::min(turn, got.bytes);
    read_all = got.bytes < asked;
  }
}

std::string connection::describe_end() const {
  using enum transferred::kind_t;
  const int code = out_.error != 0 ? out_.error : last_read_.code;
  if (last_read_.code == EBADMSG)
    return "what came from it was changed on the way: a record is not genuine (HEDDLE_TCP_CRYPT)";
  if (last_read_.kind == ended) return "it hung up: its process has ended, or it has left the job";
  if (out_.error != 0 || (last_read_.kind == broken && code != 0))
    return fmt::format("the connection broke: {}", std::strerror(code));
  return "it sent what no engine sends";
}

void connection::stop_writing() noexcept {
  mute = true;
  read_limit = received + last_words_bytes;
  out_.discard();
}

bool connection::is_stuck(std::uint64_t timeout_ms, std::uint64_t away_ms) noexcept {
  moved_at_ms_ = std::min(now_ms(), moved_at_ms_ + away_ms);
  const std::uint64_t moved = received + out_.written + stream_.moved_in_units();
  const bool waits = ops_.owed() != 0 || !out_.empty() || turned_away();
  if (waits && moved == moved_before_) return now_ms() - moved_at_ms_ > timeout_ms;
  moved_before_ = moved;
  moved_at_ms_ = now_ms();
  return false;
}

connection::taken connection::take_frames(event_sink& sink) noexcept {
  while (missing_ == 0 && !in_.empty()) {
    if (sink.full()) return taken::sink_full;
    if (chosen_ && in_.begins_with_message()) [[likely]] {
      const auto take = [from = &peer_, next = sink.rest().data()](auto message) mutable {
        *next++ = {event::kind_t::arrived, status::done, from, nullptr, message};
      };
      sink.count += in_.take_messages(sink.rest().size(), take);
      if (in_.empty() || sink.full()) continue;
    }
    const reassembler::item i = in_.next();
    if (i.is == verdict::more) break;
    if (i.is == verdict::bad || !act(i, sink)) return taken::rules_broken;
  }
  return taken::all;
}

transferred connection::read_some(std::size_t& asked) noexcept {
  if (missing_ != 0) [[unlikely]]
    return read_payload(asked);
  const std::span<std::byte> room = in_.room();
  const transferred got = stream_.receive(room);
  asked = room.size();
  if (got.kind == transferred::kind_t::some) in_.filled(got.bytes);
  return got;
}

// Straight to where the payload belongs. What follows it goes to the buffer, in the same call.
transferred connection::read_payload(std::size_t& asked) noexcept {
  memory::region_table::pinned pin;
  std::span<std::byte> place = frame_.kind == frame_kind::put
                                   ? target_.place_for(frame_, missing_, pin)
                                   : ops_.place_for(frame_, missing_);
  place = place.first(std::min(place.size(), pinned_bytes));
  const std::span<std::byte> room = in_.room().first(place.size() == missing_ ? beyond_bytes : 0);
  std::array<iovec, 2> parts{iovec{place.data(), place.size()}, iovec{room.data(), room.size()}};
  const transferred got = stream_.receive(parts);
  asked = place.size() + room.size();
  if (got.kind != transferred::kind_t::some) return got;
  const std::size_t taken_in = std::min(got.bytes, place.size());
  in_.filled(got.bytes - taken_in);
  missing_ -= static_cast<std::uint32_t>(taken_in);
  if (missing_ == 0 && !end_frame(frame_)) return {0, transferred::kind_t::broken};
  return got;
}

// False, as of the two below: the peer breaks the rules.
bool connection::act(const reassembler::item& i, event_sink& sink) noexcept {
  const frame& f = i.head;
  if (!chosen_ && f.kind != frame_kind::bye && f.kind != frame_kind::chosen) return false;
  switch (f.kind) {
    case frame_kind::message:
      return false;  // take_frames() took it, if it may come
    case frame_kind::put:
      target_.on_put(f, i.payload);
      return go_on(i);
    case frame_kind::notice:
      if (target_.last_put_is_done())
        sink.add({event::kind_t::arrived, status::done, &peer_, nullptr, i.payload});
      return true;
    case frame_kind::put_ack:
      return ops_.on_put_ack(f);
    case frame_kind::get:
      return target_.on_get(f);
    case frame_kind::get_data:
      return ops_.on_get_data(f, i.payload) && go_on(i);
    case frame_kind::atomic:
      return target_.on_atomic(f);
    case frame_kind::reply:
      return ops_.on_reply(f);
    case frame_kind::bye:
      return bye_ = true;  // the end of the stream comes next, and means the same
    case frame_kind::chosen:
      return !std::exchange(chosen_, true);
  }
  return false;
}

// The frame is over, or the rest of its payload comes next.
bool connection::go_on(const reassembler::item& i) noexcept {
  if (i.missing == 0) return end_frame(i.head);
  frame_ = i.head;
  missing_ = i.missing;
  return true;
}

bool connection::end_frame(const frame& f) noexcept {
  return f.kind == frame_kind::put ? target_.end_put(f) : ops_.end_get_data(f);
}

}  // namespace heddle::transport::tcp
