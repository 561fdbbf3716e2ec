// SPDX-License-Identifier: BSD-3-Clause
// endpoint.h - one lane's way to all lanes of all peers over one wire.
#pragma once
#include <heddle/status.h>
#include <heddle/types.h>

#include <cstddef>
#include <span>

#include "transport/event.h"
#include "transport/op.h"

namespace heddle::transport {

/// How many ops, from the first on, were accepted; and when not all, what is with the next one.
struct post_result {
  std::size_t accepted = 0;
  /// done: all were accepted. busy_queue: no room now, post it again after a poll. Else why it can
  /// never be done, and the ops behind it may still be posted: unsupported (not this way),
  /// peer_lost, invalid, or what it met (withdrawn, denied, out_of_bounds, misaligned, no_memory).
  status reason = status::done;
};

/// One lane's way to all peers over one wire.
///
/// Threads: the engine calls an endpoint from one thread at a time and never re-enters it.
/// An endpoint never calls up; everything it has to say comes out of poll(). Nothing here blocks.
class endpoint {
 public:
  /// Frees. Does not wait: what peers have not taken yet is lost (see idle()).
  virtual ~endpoint() = default;

  /// One lane of a peer, always the same for the same numbers, until this endpoint's end. Does not
  /// connect. What the engine did not ask for before, an event may bring. nullptr: the device does
  /// not know the peer, no device could have a lane of this number, or there is no memory.
  virtual remote_lane* reach(rank peer, int lane) noexcept = 0;

  /// Starts a prefix of `ops`, in order. The first op for a lane starts connecting to it, during
  /// which post answers busy_queue; a lane to which no way can be made is lost. An accepted op
  /// either is over, and op::over says so, or ends by exactly one event. An accepted send is always
  /// copied and over.
  virtual post_result post(std::span<op* const> ops) noexcept = 0;
  /// One op: done, posted, or the reason why not. A short way for ops posted alone, which a
  /// backend may leave to the other post().
  virtual status post(op& what) noexcept {
    op* const alone = &what;
    const post_result r = post({&alone, 1});
    if (r.accepted == 0) return r.reason;
    return what.over ? status::done : status::posted;
  }

  /// A message of the two words of `head`, `header` and `data`, if it can go at once: a short way
  /// for the most frequent op, which a backend may leave to post(). done: it was copied, as an
  /// accepted send. busy_queue: nothing has happened, and post() may tell more.
  /// `header` has at most max_call_header bytes, and all together at most traits::max_message.
  virtual status send(remote_lane& to, message_head head, std::span<const std::byte> header,
                      std::span<const std::byte> data) noexcept {
    op o;
    o.to = &to;
    o.head = head;
    o.header = header;
    o.memory = only_read(data);
    return post(o) == status::done ? status::done : status::busy_queue;
  }

  /// Takes up to `out.size()` events, oldest first. Moves transfers and connections forward.
  virtual std::size_t poll(std::span<event> out) noexcept = 0;

  /// Prepares for sleep: from now until the next poll(), anything poll() would report, and room for
  /// a post that was answered busy_queue, makes fd() readable. False: there is work now, do not
  /// sleep.
  virtual bool arm() noexcept = 0;
  /// The same for an owner that polls again in a moment in any case: what comes just now may be
  /// missed. It is through with the events of the last poll. Worth overriding where arm() has to
  /// agree with peers, or to wait for a poll.
  virtual bool arm_loosely() noexcept { return arm(); }
  /// Watched for reading while armed. Constant.
  [[nodiscard]] virtual int fd() const noexcept = 0;

  /// A thread waits on this lane, on `core`, and looks for news in vain. Tells peers on this host
  /// where the wire can, and answers whether one that this lane has to do with looks for news on
  /// the same core: what is awaited may have to come from there.
  virtual bool shares_core([[maybe_unused]] int core) noexcept { return false; }

  /// Called now and then while anything is in flight, also when nobody arms: looks for dead peers.
  virtual void maintain() noexcept = 0;

  /// The engine holds the lane for dead: every op in flight to it ends with peer_lost, nothing more
  /// is taken from it, and later posts answer peer_lost. The engine drops all lanes of a peer.
  virtual void drop(remote_lane& of) noexcept = 0;

  /// True when everything accepted has left this process's memory. For an orderly end.
  [[nodiscard]] virtual bool idle() const noexcept = 0;
};

}  // namespace heddle::transport
