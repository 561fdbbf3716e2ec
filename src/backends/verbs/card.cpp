// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/card.h"

#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

#include "base/error.h"

namespace heddle::transport::verbs {
namespace {

constexpr std::uint64_t any_gid = 255;
constexpr std::uint8_t shortest_rnr_wait = 1;  // 10 us
constexpr std::uint8_t without_end = 7;        // rnr_retry

std::string link_name(const ibv_port_attr& p) {
  return p.link_layer == IBV_LINK_LAYER_ETHERNET ? "RoCE" : "InfiniBand";
}

ibv_mtu mtu_of(std::uint64_t bytes) {
  ibv_mtu found = IBV_MTU_256;
  for (const ibv_mtu m : {IBV_MTU_512, IBV_MTU_1024, IBV_MTU_2048, IBV_MTU_4096})
    if ((128u << m) <= bytes) found = m;
  return found;
}

bool is_v4(const ibv_gid& g) {
  const auto* b = g.raw;
  return std::all_of(b, b + 10, [](auto x) { return x == 0; }) && b[10] == 0xff && b[11] == 0xff;
}

bool is_zero(const ibv_gid& g) {
  return std::all_of(std::begin(g.raw), std::end(g.raw), [](auto x) { return x == 0; });
}

}  // namespace

void check(int code, std::string_view what) {
  if (code != 0) fail("{}: {}", what, std::generic_category().message(code));
}

void watch(int waker, int fd) {
  epoll_event e{};
  e.events = EPOLLIN;
  e.data.fd = fd;
  if (::epoll_ctl(waker, EPOLL_CTL_ADD, fd, &e) != 0)
    fail_errno(errno, "a descriptor of the card cannot be waited for");
}

card_list::card_list() {
  int count = 0;
  list_ = ibv_get_device_list(&count);
  if (list_ == nullptr)
    fail(
        "no InfiniBand or RoCE card can be listed ({}): are the modules ib_uverbs and the card's "
        "driver loaded?",
        std::generic_category().message(errno));
  cards_ = {list_, static_cast<std::size_t>(count)};
  if (!cards_.empty()) return;
  ibv_free_device_list(list_);
  fail("this host has no InfiniBand or RoCE card (ibv_devices lists none)");
}

std::vector<port_choice> card_list::ports(const std::string& wanted) const {
  std::vector<port_choice> found;
  const auto wants = [&](const std::string& card, int port) {
    if (wanted.empty()) return true;
    const std::string list = "," + wanted + ",";
    return list.find("," + card + ",") != std::string::npos ||
           list.find(fmt::format(",{}:{},", card, port)) != std::string::npos;
  };
  for (ibv_device* const d : cards_) {
    const handle<ibv_context> context(ibv_open_device(d));
    ibv_device_attr limits{};
    if (context == nullptr || ibv_query_device(context.get(), &limits) != 0) continue;
    for (int p = 1; p <= limits.phys_port_cnt; ++p) {
      ibv_port_attr port{};
      if (ibv_query_port(context.get(), static_cast<std::uint8_t>(p), &port) != 0) continue;
      if (port.state == IBV_PORT_ACTIVE && wants(ibv_get_device_name(d), p))
        found.push_back({d, static_cast<std::uint8_t>(p)});
    }
  }
  if (found.empty() && wanted.empty())
    fail("no port of any InfiniBand or RoCE card is up: ibv_devinfo tells their states");
  if (found.empty())
    fail("HEDDLE_VERBS_DEVICES={}: no such port is up; ibv_devinfo lists what there is", wanted);
  return found;
}

card::card(ibv_device* which, std::uint8_t port, const options& chosen)
    : chosen_(chosen),
      number_(port),
      name_(fmt::format("{}:{}", ibv_get_device_name(which), port)),
      context_(ibv_open_device(which)) {
  if (context_ == nullptr)
    fail("{} cannot be opened: {}; the user needs access to /dev/infiniband/uverbs*", name_,
         std::generic_category().message(errno));
  check(ibv_query_device(context_.get(), &limits_), name_ + ": ask for its limits");
  check(ibv_query_port(context_.get(), port, &port_), name_ + ": ask for the port's state");
  if (chosen.pkey_index >= port_.pkey_tbl_len)
    fail("HEDDLE_VERBS_PKEY_INDEX={}: the partition table of {} has {} rows, counted from 0",
         chosen.pkey_index, name_, port_.pkey_tbl_len);
  domain_.reset(ibv_alloc_pd(context_.get()));
  if (domain_ == nullptr)
    fail("{}: no protection domain: {}", name_, std::generic_category().message(errno));
  const ibv_mtu most = chosen.mtu == 0 ? IBV_MTU_4096 : mtu_of(chosen.mtu);
  place_.lid = port_.lid;
  place_.mtu = static_cast<std::uint8_t>(std::min(most, port_.active_mtu));
  place_.reads = static_cast<std::uint8_t>(std::clamp(limits_.max_qp_rd_atom, 1, 16));
  place_.by_gid =
      port_.link_layer == IBV_LINK_LAYER_ETHERNET || (port_.flags & IBV_QPF_GRH_REQUIRED) != 0;
  on_demand_ = rights_on_demand();
  choose_gid();
}

std::uint32_t card::rights_on_demand() const noexcept {
  ibv_device_attr_ex all{};
  if (ibv_query_device_ex(context_.get(), nullptr, &all) != 0) return 0;
  const bool has_any = (all.odp_caps.general_caps & IBV_ODP_SUPPORT) != 0;
  return has_any ? all.odp_caps.per_transport_caps.rc_odp_caps : 0;
}

handle<ibv_mr> card::register_memory(std::span<std::byte> memory, int access) const {
  handle<ibv_mr> made(ibv_reg_mr(domain(), memory.data(), memory.size(), access));
  if (made != nullptr || errno != ENOMEM) return made;
  std::uint32_t needed = IBV_ODP_SUPPORT_READ | IBV_ODP_SUPPORT_WRITE;
  if ((access & IBV_ACCESS_REMOTE_ATOMIC) != 0) needed |= IBV_ODP_SUPPORT_ATOMIC;
  if ((on_demand_ & needed) == needed)
    made.reset(ibv_reg_mr(domain(), memory.data(), memory.size(), access | IBV_ACCESS_ON_DEMAND));
  return made;
}

/// The row that is asked for; else for RoCE the first of version 2 with an IPv4 address, or any of
/// version 2, or any at all; for InfiniBand the first.
void card::choose_gid() {
  std::array<int, 3> found{-1, -1, -1};
  for (int row = 0; row < port_.gid_tbl_len && chosen_.gid_index == any_gid; ++row) {
    ibv_gid_entry e{};
    if (ibv_query_gid_ex(context_.get(), number_, static_cast<std::uint32_t>(row), &e, 0) != 0)
      continue;
    if (is_zero(e.gid)) continue;
    const bool v2 = e.gid_type == IBV_GID_TYPE_ROCE_V2;
    const std::size_t rank_of_row = v2 && is_v4(e.gid) ? 0 : v2 ? 1 : 2;
    if (found.at(rank_of_row) < 0) found.at(rank_of_row) = row;
  }
  int row = chosen_.gid_index == any_gid ? -1 : static_cast<int>(chosen_.gid_index);
  for (const int f : found)
    if (row < 0) row = f;
  ibv_gid gid{};
  if (row < 0 || ibv_query_gid(context_.get(), number_, row, &gid) != 0 || is_zero(gid)) {
    if (place_.by_gid != 0 || chosen_.gid_index != any_gid)
      fail(
          "{} has no GID in {}: give its network interface an address, or set "
          "HEDDLE_VERBS_GID_INDEX (ibv_devinfo -v lists the rows)",
          name_, row < 0 ? "any row of its table" : fmt::format("row {}", row));
    return;
  }
  gid_index_ = static_cast<std::uint8_t>(row);
  std::memcpy(place_.gid.data(), gid.raw, sizeof gid.raw);
}

std::string card::describe() const {
  return fmt::format("{} {} mtu {} {}", name_, link_name(port_), 128u << place_.mtu,
                     place_.by_gid != 0 ? fmt::format("GID row {}", gid_index_)
                                        : fmt::format("LID {}", place_.lid));
}

ibv_ah_attr card::way_to(const fabric_place& peer) const noexcept {
  ibv_ah_attr a{};
  a.port_num = number_;
  a.sl = chosen_.sl;
  a.dlid = peer.lid;
  if (peer.by_gid == 0 && place_.by_gid == 0) return a;
  a.is_global = 1;
  std::memcpy(a.grh.dgid.raw, peer.gid.data(), peer.gid.size());
  a.grh.sgid_index = gid_index_;
  a.grh.hop_limit = 64;
  return a;
}

int card::prepare(ibv_qp* qp) const noexcept {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_INIT;
  a.pkey_index = chosen_.pkey_index;
  a.port_num = number_;
  a.qp_access_flags = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
  return ibv_modify_qp(qp, &a,
                       IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS);
}

int card::connect(ibv_qp* qp, const fabric_place& peer, far_end to,
                  std::uint32_t our_psn) const noexcept {
  ibv_qp_attr a{};
  a.qp_state = IBV_QPS_RTR;
  a.path_mtu = static_cast<ibv_mtu>(std::min(place_.mtu, peer.mtu));
  a.dest_qp_num = to.qpn;
  a.rq_psn = to.psn;
  a.max_dest_rd_atomic = place_.reads;
  a.min_rnr_timer = shortest_rnr_wait;
  a.ah_attr = way_to(peer);
  const int received =
      ibv_modify_qp(qp, &a,
                    IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                        IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (received != 0) return received;
  a = {};
  a.qp_state = IBV_QPS_RTS;
  a.timeout = chosen_.timeout;
  a.retry_cnt = chosen_.retries;
  a.rnr_retry = without_end;
  a.sq_psn = our_psn;
  a.max_rd_atomic =
      static_cast<std::uint8_t>(std::clamp<int>(limits_.max_qp_init_rd_atom, 1, peer.reads));
  return ibv_modify_qp(qp, &a,
                       IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                           IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
}

}  // namespace heddle::transport::verbs
