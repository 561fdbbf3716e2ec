// connection.cpp - reading one connection: taking bytes in, and payloads to where they belong.
#include "backends/tcp/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>

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

connection::reading connection::receive(event_sink& sink) noexcept {
  const std::size_t before = sink.count;
  std::size_t turn = turn_bytes;
  bool read_all = false;
  for (;;) {
    if (missing_ == 0 && !in_.empty()) {
      const taken t = take_frames(sink);
      if (t == taken::rules_broken) return reading::broken;
      if (t == taken::sink_full) return write_ack() ? reading::more : reading::broken;
    }
    if (acks_ != 0 && !write_ack()) return reading::broken;
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
  if (last_read_.kind == ended) return "it hung up: its process has ended, or it has left the job";
  if (out_.error != 0 || (last_read_.kind == broken && code != 0))
    return fmt::format("the connection broke: {}", std::strerror(code));
  return "it sent what no engine sends";
}

void connection::fall_silent() noexcept {
  mute = true;
  read_limit = received + last_words_bytes;
  out_.discard();
}

bool connection::is_stuck(std::uint64_t timeout_ms) noexcept {
  const std::uint64_t moved = received + out_.written;
  if (waits_for_peer() && moved == moved_before_) return now_ms() - moved_at_ms_ > timeout_ms;
  moved_before_ = moved;
  moved_at_ms_ = now_ms();
  return false;
}

connection::taken connection::take_frames(event_sink& sink) noexcept {
  while (missing_ == 0 && !in_.empty()) {
    if (sink.full()) return taken::sink_full;
    if (chosen_) [[likely]] {
      in_.take_messages([&](std::span<const std::byte> message) {
        sink.add({event::kind_t::arrived, status::done, peer_, nullptr, message});
        return !sink.full();
      });
      if (in_.empty() || sink.full()) continue;
    }
    const reassembler::item i = in_.next();
    if (i.is == verdict::more) break;
    if (i.is == verdict::bad || !act(i)) return taken::rules_broken;
  }
  return taken::all;
}

transferred connection::read_some(std::size_t& asked) noexcept {
  if (missing_ != 0) [[unlikely]]
    return read_payload(asked);
  const std::span<std::byte> room = in_.room();
  const transferred got = tcp::receive(fd_.get(), room);
  asked = room.size();
  if (got.kind == transferred::kind_t::some) in_.filled(got.bytes);
  return got;
}

// Straight to where the payload belongs. What follows it goes to the buffer, in the same call.
transferred connection::read_payload(std::size_t& asked) noexcept {
  memory::region_table::pinned pin;
  std::byte* at = memory_;
  std::size_t wanted = std::min<std::size_t>(missing_, pinned_bytes);
  if (to_ == destination::region && put_code_ == status::done) {
    pin = shared_.regions.look_up({frame_.slot, frame_.generation}, frame_.offset, missing_,
                                  rights::write);
    put_code_ = pin.code();
    at = pin.at();
  }
  if (to_ == destination::region && put_code_ != status::done) {
    at = shared_.nowhere.data();
    wanted = std::min(wanted, shared_.nowhere.size());
  }
  const std::span<std::byte> room = in_.room().first(wanted == missing_ ? beyond_bytes : 0);
  std::array<iovec, 2> parts{iovec{at, wanted}, iovec{room.data(), room.size()}};
  const transferred got = tcp::receive(fd_.get(), parts);
  asked = wanted + room.size();
  if (got.kind != transferred::kind_t::some) return got;
  const std::size_t taken_in = std::min(got.bytes, wanted);
  in_.filled(got.bytes - taken_in);
  missing_ -= static_cast<std::uint32_t>(taken_in);
  frame_.offset += taken_in;
  if (to_ == destination::memory) memory_ += taken_in;
  if (missing_ == 0 && !finish_frame()) return {0, transferred::kind_t::broken};
  return got;
}

}  // namespace heddle::transport::tcp
