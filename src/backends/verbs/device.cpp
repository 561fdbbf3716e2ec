// SPDX-License-Identifier: BSD-3-Clause
// device.cpp - opening, addresses, peers, lanes, and answers to those who ask for them.
#include "backends/verbs/device.h"

#include <fmt/format.h>
#include <sodium.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <limits>

#include "backends/verbs/endpoint.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/timer.h"

namespace heddle::transport::verbs {
namespace {

constexpr std::size_t largest_op = std::size_t{1} << 30;

std::uint64_t make_nonce() {
  std::uint64_t n = 0;
  randombytes_buf(&n, sizeof n);
  return n | 1;
}

}  // namespace

verbs_device::verbs_device(const context& where, const port_choice& port)
    : self_(where.self),
      job_size_(static_cast<std::size_t>(where.size)),
      options_(*where.config),
      nonce_(make_nonce()),
      card_(port.device, port.port, options_),
      waker_(::epoll_create1(EPOLL_CLOEXEC)),
      timer_(make_timer()),
      exposed_(card_, *where.config),
      events_(card_),
      greeter_(card_, where.job_secret),
      questions_(greeter_, where.config->peer_timeout_ms * 1'000'000) {
  if (!waker_ || !timer_) fail_errno(errno, "no descriptors left (ulimit -n)");
  for (const int fd : {greeter_.fd(), timer_.get(), events_.fd()}) watch(waker_.get(), fd);
  traits_.native = only(op_kind::send) | only(op_kind::put) | only(op_kind::get);
  if (card_.limits().atomic_cap != IBV_ATOMIC_NONE) traits_.native |= only(op_kind::atomic);
  traits_.cpu_atomics = card_.limits().atomic_cap == IBV_ATOMIC_GLOB;
  traits_.max_message = max_message;
  traits_.max_op = std::min(largest_op, card_.largest_op());
  traits_.send_after_put = false;  // a put may go by another lane of the peer than a message
  traits_.put_tells = true;
}

verbs_device::~verbs_device() = default;

std::vector<std::byte> verbs_device::address() const {
  peer_facts f;
  f.number = self_;
  f.greeter = greeter_.number();
  f.nonce = nonce_;
  f.place = card_.place();
  f.table = exposed_.table();
  f.table_key = exposed_.table_key();
  return to_address(f);
}

std::string verbs_device::add_peer(rank number, std::span<const std::byte> address,
                                   bool /*same_host*/) {
  const auto facts = from_address(address);
  if (!facts || facts->number != number || facts->nonce == 0)
    return "its address makes no sense: install the same Heddle on every host";
  if (facts->place.by_gid != card_.place().by_gid)
    return "one port is addressed by LID (InfiniBand) and the other by GID (RoCE)";
  const std::scoped_lock lock(mutex_);
  const auto at = static_cast<std::size_t>(number);
  if (at >= peers_.size()) peers_.resize(std::max<std::size_t>(at + 1, job_size_));
  peers_[at] = *facts;
  return {};
}

bool verbs_device::knows(rank number) const noexcept {
  const auto at = static_cast<std::size_t>(number);
  return at < peers_.size() && peers_[at].nonce != 0;
}

std::optional<peer_facts> verbs_device::find_peer(rank number) const {
  const std::scoped_lock lock(mutex_);
  if (!knows(number)) return std::nullopt;
  return peers_[static_cast<std::size_t>(number)];
}

std::unique_ptr<endpoint> verbs_device::make_endpoint(int lane) {
  auto home = std::make_shared<lane_home>(card_, lane);
  auto made = std::make_unique<verbs_endpoint>(*this, home);
  const std::scoped_lock lock(mutex_);
  lanes_.add(lane, home);
  if (lanes_.has_early()) set_timer(timer_.get(), 1);
  return made;
}

std::uint32_t verbs_device::ask(const peer_facts& whom, int their_lane,
                                const std::shared_ptr<lane_home>& of, std::uint32_t stream,
                                far_end our_end) {
  hello h;
  h.kind = hello::kind_t::ask;
  h.from_lane = static_cast<std::uint16_t>(of->lane);
  h.to_lane = static_cast<std::uint16_t>(their_lane);
  h.from = self_;
  h.to = whom.number;
  h.from_nonce = nonce_;
  h.to_nonce = whom.nonce;
  h.stream = stream;
  h.end = our_end;
  const std::scoped_lock lock(mutex_);
  const std::uint32_t number = questions_.ask(whom, h, {of, &of->letters});
  set_timer(timer_.get(), 1);  // and whoever serves this device asks again in time
  return number;
}

void verbs_device::forget(std::uint32_t question) noexcept {
  const std::scoped_lock lock(mutex_);
  questions_.forget(question);
}

// --- what the executor does --------------------------------------------------------------

int verbs_device::serve() noexcept {
  std::uint64_t fired = 0;
  (void)!::read(timer_.get(), &fired, sizeof fired);
  events_.read();
  const std::scoped_lock lock(mutex_);
  (void)greeter_.arm();
  try {
    for (const hello& ask : lanes_.take_early()) on_ask(ask);
    greeter_.receive([this](const hello& h) { on_hello(h); });
    if (const std::uint64_t next = questions_.move(now_ns()); next != 0)
      set_timer(timer_.get(), next);
  } catch (const std::bad_alloc&) {
    set_timer(timer_.get(), 1'000'000);  // they ask again
  }
  return lanes_.name_wanted();  // each once: when it is made, it finds the asks
}

void verbs_device::on_hello(const hello& h) {
  if (h.to != self_ || h.to_nonce != nonce_) return;
  h.kind == hello::kind_t::ask ? on_ask(h) : questions_.on_answer(h);
}

void verbs_device::on_ask(const hello& ask) {
  if (!knows(ask.from) || ask.from_nonce != peers_[static_cast<std::size_t>(ask.from)].nonce)
    return;
  if (!lanes_.was_made(ask.to_lane)) return lanes_.keep_early(ask);
  const auto home = lanes_.find(ask.to_lane);  // null: the lane has ended, and so does this process
  const peer_facts& peer = peers_[static_cast<std::size_t>(ask.from)];
  // One that does not leave is asked for again.
  (void)greeter_.send(peer, home != nullptr ? home->ends.admit(ask, peer) : refusal_of(ask));
}

std::string verbs_device::details() const {
  std::string text = fmt::format("    {}\n", card_.describe());
  std::unique_lock lock(mutex_);
  const std::size_t without = lanes_.without_doorbell();
  lock.unlock();
  if (without != 0)
    text += fmt::format(
        "    {} lanes share a doorbell and its lock: the card has no page left for them\n",
        without);
  if (const std::uint64_t refused = exposed_.refused(); refused != 0)
    text += fmt::format("    {} regions so far could not be registered: by messages\n", refused);
  return text;
}

}  // namespace heddle::transport::verbs
