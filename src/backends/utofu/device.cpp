// SPDX-License-Identifier: BSD-3-Clause
// device.cpp - opening, addresses, peers, lanes.
#include "backends/utofu/device.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <random>
#include <tuple>

#include "backends/utofu/endpoint.h"
#include "backends/utofu/names.h"
#include "backends/utofu/nap.h"
#include "base/error.h"
#include "base/timer.h"

/// The software device has it, the vendor's library has not.
extern "C" [[gnu::weak]] void softtofu_help(void);  // NOLINT(modernize-redundant-void-arg): C

namespace heddle::transport::utofu {
namespace {

constexpr std::uint32_t address_magic = 0x3146'5455;  // "UTF1"
/// One lane per core, and half of what a node's user has for one process.
constexpr int most_lanes_by_default = 24;
constexpr int user_lanes_of_node = 48;

struct address_head {
  std::uint32_t magic = address_magic;
  std::int32_t number = 0;
  std::uint64_t nonce = 0;
  std::array<std::uint8_t, 6> coords{};
  std::uint16_t lanes = 0;
};
static_assert(sizeof(address_head) == 24);

struct packed_place {
  std::uint8_t tni, cq, cmp;
};
constexpr std::size_t max_address = 512;
constexpr std::size_t max_lanes = (max_address - sizeof(address_head)) / sizeof(packed_place);

std::size_t wanted_lanes(const context& where, std::uint64_t set) {
  if (set > max_lanes) fail("HEDDLE_UTOFU_LANES={}: at most {} are possible", set, max_lanes);
  if (set != 0) return set;
  return static_cast<std::size_t>(
      std::clamp(user_lanes_of_node / std::max(1, where.on_host), 1, most_lanes_by_default));
}

std::uint64_t make_nonce() {
  std::random_device source;
  return std::uint64_t{source()} << 32 | source() | 1;
}

}  // namespace

utofu_vcq_id_t peer_facts::vcq_of(std::size_t lane) const noexcept {
  const place& at = (*lanes)[lane];
  auto where = coords;
  utofu_vcq_id_t id = 0;
  (void)utofu_construct_vcq_id(where.data(), at.tni, at.cq, at.cmp, &id);
  (void)utofu_set_vcq_id_path(&id, nullptr);
  return id;
}

utofu_device::utofu_device(const context& where)
    : self_(where.self),
      options_(*where.config),
      nonce_(make_nonce()),
      vcqs_(make_vcqs(usable_tnis(), wanted_lanes(where, options_.lanes), options_.cqs)),
      timer_(make_timer()) {
  if (!timer_) fail_errno(errno, "no descriptors left (ulimit -n)");
  check(utofu_query_my_coords(coords_.data()), "ask for this node's coordinates");
  set_up_listeners();
  exposed_ = std::make_unique<exposed_regions>(vcqs_, *where.config);
  made_.resize(vcqs_.size());
  traits_.native =
      only(op_kind::send) | only(op_kind::put) | only(op_kind::get) | only(op_kind::atomic);
  traits_.max_message = max_message;
  traits_.send_after_put = false;  // a put goes to another queue of the peer than a message
  traits_.max_inline = max_piggyback;
  traits_.put_tells = true;
  traits_.cpu_atomics = false;
  traits_.reaches_files = softtofu_help != nullptr;
  traits_.atomics = transport::atomic_set::common();
  traits_.lanes = vcqs_.size();
  set_timer(true);
}

utofu_device::~utofu_device() {
  for (std::size_t lane = 0; lane < listener_addresses_.size(); ++lane)
    (void)utofu_dereg_mem(vcqs_[lane]->handle(), listener_addresses_[lane], 0);
}

void utofu_device::set_up_listeners() {
  listeners_ = memory::segment("heddle-utofu-listeners", vcqs_.size() * sizeof(listener));
  for (std::size_t lane = 0; lane < vcqs_.size(); ++lane) {
    listener& mine = listener_of(static_cast<int>(lane));
    mine.nonce = nonce_;
    utofu_stadd_t address = 0;
    check(utofu_reg_mem_with_stag(vcqs_[lane]->handle(), &mine, sizeof mine, tag_listener, 0,
                                  &address),
          "register the memory by which peers connect to a lane");
    listener_addresses_.push_back(address);
  }
}

std::vector<std::byte> utofu_device::address() const {
  address_head head;
  head.number = self_;
  head.nonce = nonce_;
  head.coords = coords_;
  head.lanes = static_cast<std::uint16_t>(vcqs_.size());
  std::vector<std::byte> bytes(sizeof head + vcqs_.size() * sizeof(packed_place));
  std::memcpy(bytes.data(), &head, sizeof head);
  std::byte* at = bytes.data() + sizeof head;
  for (const auto& v : vcqs_) {
    const packed_place p{static_cast<std::uint8_t>(v->where().tni),
                         static_cast<std::uint8_t>(v->where().cq),
                         static_cast<std::uint8_t>(v->where().cmp)};
    std::memcpy(at, &p, sizeof p);
    at += sizeof p;
  }
  return bytes;
}

std::string utofu_device::add_peer(rank number, std::span<const std::byte> address,
                                   bool /*same_host*/) {
  address_head head;
  if (address.size() < sizeof head) return "its address is cut off";
  std::memcpy(&head, address.data(), sizeof head);
  if (head.magic != address_magic || head.number != number || head.lanes == 0 ||
      address.size() != sizeof head + head.lanes * sizeof(packed_place))
    return "its address makes no sense: install the same Heddle on every host";
  std::vector<place> lanes;
  for (std::size_t i = 0; i < head.lanes; ++i) {
    packed_place p{};
    std::memcpy(&p, address.data() + sizeof head + i * sizeof p, sizeof p);
    lanes.push_back({p.tni, p.cq, p.cmp});
  }
  auto facts = std::make_shared<peer_facts>();
  facts->number = number;
  facts->coords = head.coords;
  facts->nonce = head.nonce;
  const std::scoped_lock lock(mutex_);
  facts->lanes = same_lanes(std::move(lanes));
  utofu_vcq_id_t id = 0;
  auto coords = head.coords;
  const place& first = facts->lanes->front();
  const int code = utofu_construct_vcq_id(coords.data(), first.tni, first.cq, first.cmp, &id);
  if (code != UTOFU_SUCCESS)
    return fmt::format("its coordinates are not on this machine: {}", name_of_code(code));
  peers_[number] = std::move(facts);
  return {};
}

/// Most ranks have their lanes on the same queues: one copy serves them all.
std::shared_ptr<const std::vector<place>> utofu_device::same_lanes(std::vector<place> lanes) {
  for (const auto& known : layouts_)
    if (*known == lanes) return known;
  layouts_.push_back(std::make_shared<const std::vector<place>>(std::move(lanes)));
  return layouts_.back();
}

std::shared_ptr<const peer_facts> utofu_device::find_peer(rank number) const {
  const std::scoped_lock lock(mutex_);
  const auto found = peers_.find(number);
  return found != peers_.end() ? found->second : nullptr;
}

std::unique_ptr<endpoint> utofu_device::make_endpoint(int lane) {
  const std::scoped_lock lock(mutex_);
  const auto index = static_cast<std::size_t>(lane);
  if (lane < 0 || index >= vcqs_.size())
    fail(
        "lane {}: utofu has lanes 0 to {} here; set HEDDLE_UTOFU_LANES, or let threads share lanes",
        lane, vcqs_.size() - 1);
  made_[index] = true;
  return std::make_unique<utofu_endpoint>(*this, lane);
}

int utofu_device::serve() noexcept {
  std::uint64_t fired = 0;
  const bool told = ::read(timer_.get(), &fired, sizeof fired) == sizeof fired;
  const std::scoped_lock lock(mutex_);
  for (std::size_t lane = 0; lane < vcqs_.size(); ++lane) {
    if (made_[lane] || listener_of(static_cast<int>(lane)).tickets.get() == 0) continue;
    made_[lane] = true;  // once; whenever it is made, it finds the request
    set_timer(true);
    return static_cast<int>(lane);
  }
  if (told) set_timer(false);
  return -1;
}

/// The network wakes nobody: a timer makes the executor look at the listeners of lanes that are not
/// open here, less and less often.
void utofu_device::set_timer(bool sooner) noexcept {
  nap_ns_ = sooner ? first_nap_ns : std::min(2 * nap_ns_, longest_nap_ns);
  heddle::set_timer(timer_.get(), nap_ns_);
}

std::string utofu_device::details() const {
  std::string text;
  for (std::size_t lane = 0; lane < vcqs_.size(); ++lane) {
    const vcq& v = *vcqs_[lane];
    text += fmt::format(
        "    lane {:<3} TNI {} CQ {:<2} VCQ {:#x} {}\n", lane, v.where().tni, v.where().cq, v.id(),
        v.is_exclusive() ? "exclusive" : fmt::format("component {}", v.where().cmp));
  }
  if (const std::uint64_t refused = exposed_->refused(); refused != 0)
    text += fmt::format("    {} regions so far could not be registered: by messages\n", refused);
  return text;
}

}  // namespace heddle::transport::utofu
