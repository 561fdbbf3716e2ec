// endpoint.cpp - the beginning and the end of a lane's tcp endpoint.
#include "backends/tcp/endpoint.h"

#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "backends/tcp/settings.h"
#include "base/error.h"

namespace heddle::transport::tcp {
namespace {

constexpr std::size_t least_chunk = 4096;

}  // namespace

tcp_endpoint::tcp_endpoint(tcp_device& owner, int lane, const settings& config,
                           memory::region_table& regions)
    : device_(owner),
      lane_(lane),
      size_(owner.size()),
      timeout_ms_(config.peer_timeout_ms),
      epoll_(make_epoll()),
      doorbell_(make_eventfd()),
      timer_(make_timer()),
      shared_(regions, std::clamp(number_of(chunk_size, config), least_chunk, max_fragment)),
      peers_(static_cast<std::size_t>(owner.size())) {
  epoll_event e{};
  e.events = EPOLLIN;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, doorbell_.get(), &e) != 0 ||
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, timer_.get(), &e) != 0)
    fail_errno(errno, "tcp: open lane {}: epoll_ctl", lane);
}

// Says goodbye where it can be said at once.
tcp_endpoint::~tcp_endpoint() {
  device_.forget(lane_);
  for (const auto& c : conns_) {
    if (c->mute) continue;
    if (std::byte* at = c->out().extend(common_header); at != nullptr) write_bye(at);
    (void)c->flush();
    close_softly(c->release());
  }
}

bool tcp_endpoint::idle() const noexcept {
  return std::ranges::all_of(dirty_, [](connection* c) { return c->out().empty(); });
}

}  // namespace heddle::transport::tcp
