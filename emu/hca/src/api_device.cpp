// SPDX-License-Identifier: BSD-3-Clause
// api_device.cpp - libibverbs' functions: devices, what they can, ports and addresses.
#include <endian.h>

#include <cstdio>
#include <cstring>
#include <memory>

#include "api.h"
#include "capacity.h"
#include "context.h"

using namespace hca;

namespace {

constexpr const char* firmware = "1.0.0";

/// The devices of this process, made when first asked for.
struct device_list {
  ibv_device* all[max_devices + 1] = {};
  unsigned count = 0;
};

/// Providers' libraries that ask whether a device is theirs look behind the part that is public.
struct padded_device {
  ibv_device device{};
  void* none[32] = {};
};

ibv_device* make_device(unsigned number) {
  auto* const d = &(new padded_device)->device;
  d->node_type = IBV_NODE_CA;
  d->transport_type = IBV_TRANSPORT_IB;
  std::snprintf(d->name, sizeof d->name, "softhca%u", number);
  std::snprintf(d->dev_name, sizeof d->dev_name, "uverbs%u", number);
  std::snprintf(d->dev_path, sizeof d->dev_path, "/sys/class/infiniband_verbs/uverbs%u", number);
  std::snprintf(d->ibdev_path, sizeof d->ibdev_path, "/sys/class/infiniband/softhca%u", number);
  return d;
}

const device_list& devices(const process& us) {
  static const device_list list = [&] {
    device_list all;
    all.count = static_cast<unsigned>(us.set()[knob::devices]);
    for (unsigned i = 0; i < all.count; ++i) all.all[i] = make_device(i);
    return all;
  }();
  return list;
}

unsigned number_of(const ibv_device* device) noexcept {
  return static_cast<unsigned>(device->name[std::strlen("softhca")] - '0');
}

place place_of(const ibv_device* device) noexcept {
  place at;
  if (const process* const us = process::joined())
    at.node = static_cast<std::uint8_t>(us->set()[knob::node]);
  at.device = static_cast<std::uint8_t>(number_of(device));
  return at;
}

void describe(context& c, ibv_device_attr& d) noexcept {
  d = {};
  std::strcpy(d.fw_ver, firmware);
  d.node_guid = d.sys_image_guid = htobe64(guid_of(c.at(1)));
  d.max_mr_size = std::uint64_t{1} << 47;
  d.page_size_cap = 0xffff'f000;
  d.vendor_id = 0x02'5548;
  d.vendor_part_id = 1;
  d.max_qp = max_qps - 2;
  d.max_qp_wr = max_queue_depth;
  d.device_cap_flags = IBV_DEVICE_SYS_IMAGE_GUID | IBV_DEVICE_RC_RNR_NAK_GEN |
                       IBV_DEVICE_CURR_QP_STATE_MOD | IBV_DEVICE_BAD_QKEY_CNTR;
  d.max_sge = d.max_sge_rd = d.max_srq_sge = max_sge;
  d.max_cq = 1 << 16;
  d.max_cqe = max_cqes;
  d.max_mr = max_mrs - 1;
  d.max_pd = 1 << 16;
  d.max_qp_rd_atom = d.max_qp_init_rd_atom = max_rd_atomic;
  d.max_res_rd_atom = max_qps * max_rd_atomic;
  d.atomic_cap = IBV_ATOMIC_HCA;
  d.max_mcast_grp = max_groups;
  d.max_mcast_qp_attach = max_group_members;
  d.max_total_mcast_qp_attach = max_groups * max_group_members;
  d.max_ah = 1 << 20;
  d.max_srq = 1 << 16;
  d.max_srq_wr = max_queue_depth;
  d.max_pkeys = 1;
  d.local_ca_ack_delay = 15;
  d.phys_port_cnt = static_cast<std::uint8_t>(c.ports());
}

int query_device_ex(ibv_context* api, const ibv_query_device_ex_input* input,
                    ibv_device_attr_ex* into, std::size_t bytes) {
  if (input != nullptr && input->comp_mask != 0) return EINVAL;
  if (bytes < sizeof into->orig_attr) return EINVAL;
  ibv_device_attr_ex all{};
  describe(context::of(api), all.orig_attr);
  all.completion_timestamp_mask = ~std::uint64_t{0};
  all.hca_core_clock = 1'000'000;  // kHz: timestamps count nanoseconds
  all.device_cap_flags_ex = all.orig_attr.device_cap_flags;
  all.phys_port_cnt_ex = all.orig_attr.phys_port_cnt;
  if (context::of(api).us().set().on(knob::odp)) {
    all.odp_caps.general_caps = IBV_ODP_SUPPORT;
    all.odp_caps.per_transport_caps.rc_odp_caps = IBV_ODP_SUPPORT_SEND | IBV_ODP_SUPPORT_RECV |
                                                  IBV_ODP_SUPPORT_WRITE | IBV_ODP_SUPPORT_READ |
                                                  IBV_ODP_SUPPORT_ATOMIC;
    all.odp_caps.per_transport_caps.ud_odp_caps = IBV_ODP_SUPPORT_SEND;
  }
  std::memcpy(into, &all, bytes < sizeof all ? bytes : sizeof all);
  return 0;
}

int query_port(ibv_context* api, std::uint8_t port, ibv_port_attr* into, std::size_t bytes) {
  context& c = context::of(api);
  if (port < 1 || port > c.ports()) return EINVAL;
  const link_layer link = c.us().link();
  ibv_port_attr p{};
  const bool up = c.us().fabric().is_up(c.at(port));
  p.state = up ? IBV_PORT_ACTIVE : IBV_PORT_DOWN;
  p.max_mtu = p.active_mtu = IBV_MTU_4096;
  p.gid_tbl_len = gids_of(link);
  p.port_cap_flags = link == link_layer::roce ? IBV_PORT_CM_SUP | IBV_PORT_IP_BASED_GIDS
                                              : static_cast<unsigned>(IBV_PORT_CM_SUP);
  p.max_msg_sz = max_message;
  p.pkey_tbl_len = 1;
  p.lid = lid_of(c.at(port), link);
  p.sm_lid = link == link_layer::ib ? 1 : 0;
  p.max_vl_num = 1;
  p.subnet_timeout = 18;
  p.active_width = 2;         // 4x
  p.active_speed = 32;        // EDR
  p.phys_state = up ? 5 : 2;  // LinkUp, Polling
  p.link_layer = link == link_layer::roce ? IBV_LINK_LAYER_ETHERNET : IBV_LINK_LAYER_INFINIBAND;
  std::memcpy(into, &p, bytes < sizeof p ? bytes : sizeof p);
  return 0;
}

int query_rt_values(ibv_context*, ibv_values_ex* into) {
  if ((into->comp_mask & IBV_VALUES_MASK_RAW_CLOCK) != 0)
    clock_gettime(CLOCK_REALTIME, &into->raw_clock);
  into->comp_mask &= IBV_VALUES_MASK_RAW_CLOCK;
  return 0;
}

bool is_gid(context& c, unsigned port, unsigned index) noexcept {
  return port >= 1 && port <= c.ports() && index < static_cast<unsigned>(gids_of(c.us().link()));
}

ibv_gid_entry gid_entry(context& c, unsigned port, unsigned index) noexcept {
  ibv_gid_entry e{};
  e.gid = gid_of(c.at(port), static_cast<int>(index));
  e.gid_index = index;
  e.port_num = port;
  e.gid_type = gid_type_of(static_cast<int>(index), c.us().link());
  return e;
}

}  // namespace

void hca::set_device_operations(verbs_context& verbs) noexcept {
  verbs.query_port = query_port;
  verbs.query_device_ex = query_device_ex;
  verbs.query_rt_values = query_rt_values;
}

SOFTHCA_API ibv_device** ibv_get_device_list(int* count) {
  process* const us = process::get();
  const unsigned found = us == nullptr ? 0 : devices(*us).count;
  if (count != nullptr) *count = static_cast<int>(found);
  if (us == nullptr) return refuse(ENOSYS);
  auto** const list = new (std::nothrow) ibv_device*[found + 1];
  if (list == nullptr) return refuse(ENOMEM);
  std::memcpy(list, devices(*us).all, (found + 1) * sizeof *list);
  return list;
}
SOFTHCA_API void ibv_free_device_list(ibv_device** list) {
  delete[] list;
}
SOFTHCA_API const char* ibv_get_device_name(ibv_device* device) {
  return device->name;
}
SOFTHCA_API int ibv_get_device_index(ibv_device* device) {
  return static_cast<int>(number_of(device));
}
SOFTHCA_API __be64 ibv_get_device_guid(ibv_device* device) {
  return htobe64(guid_of(place_of(device)));
}
SOFTHCA_API ibv_context* ibv_open_device(ibv_device* device) {
  process* const us = process::get();
  if (us == nullptr) return refuse(ENOSYS);
  return made([&] { return (new context(*us, *device, number_of(device)))->api(); });
}
SOFTHCA_API int ibv_close_device(ibv_context* api) {
  context& c = context::of(api);
  if (c.domains != 0) return EBUSY;
  delete &c;
  return 0;
}
SOFTHCA_API int ibv_query_device(ibv_context* api, ibv_device_attr* into) {
  describe(context::of(api), *into);
  return 0;
}
#undef ibv_query_port
/// Programs built against old headers: what they have room for ends before the flags.
SOFTHCA_API int ibv_query_port(ibv_context* api, std::uint8_t port, _compat_ibv_port_attr* into) {
  return query_port(api, port, reinterpret_cast<ibv_port_attr*>(into),
                    offsetof(ibv_port_attr, port_cap_flags2));
}
SOFTHCA_API int ibv_query_gid(ibv_context* api, std::uint8_t port, int index, union ibv_gid* into) {
  context& c = context::of(api);
  if (index < 0 || !is_gid(c, port, static_cast<unsigned>(index))) {
    errno = EINVAL;
    return -1;
  }
  *into = gid_of(c.at(port), index);
  return 0;
}
SOFTHCA_API int _ibv_query_gid_ex(ibv_context* api, std::uint32_t port, std::uint32_t index,
                                  ibv_gid_entry* into, std::uint32_t flags, std::size_t) {
  context& c = context::of(api);
  if (flags != 0) return EOPNOTSUPP;
  if (!is_gid(c, port, index)) return EINVAL;
  *into = gid_entry(c, port, index);
  return 0;
}
SOFTHCA_API ssize_t _ibv_query_gid_table(ibv_context* api, ibv_gid_entry* into, std::size_t most,
                                         std::uint32_t flags, std::size_t) {
  context& c = context::of(api);
  if (flags != 0) return -EOPNOTSUPP;
  const auto per_port = static_cast<unsigned>(gids_of(c.us().link()));
  std::size_t count = 0;
  for (unsigned port = 1; port <= c.ports(); ++port) {
    for (unsigned index = 0; index < per_port; ++index) {
      if (count == most) return -EINVAL;
      into[count++] = gid_entry(c, port, index);
    }
  }
  return static_cast<ssize_t>(count);
}
SOFTHCA_API int ibv_query_gid_type(ibv_context* api, std::uint8_t port, unsigned index, int* type) {
  context& c = context::of(api);
  if (!is_gid(c, port, index)) return EINVAL;
  *type = gid_type_of(static_cast<int>(index), c.us().link()) == IBV_GID_TYPE_ROCE_V2 ? 1 : 0;
  return 0;
}
SOFTHCA_API int ibv_query_pkey(ibv_context*, std::uint8_t, int index, __be16* into) {
  if (index != 0) return -1;
  *into = htobe16(0xffff);
  return 0;
}
SOFTHCA_API int ibv_get_pkey_index(ibv_context*, std::uint8_t, __be16 pkey) {
  return pkey == htobe16(0xffff) ? 0 : -1;
}
SOFTHCA_API int ibv_fork_init() {
  return 0;
}
SOFTHCA_API ibv_fork_status ibv_is_fork_initialized() {
  return IBV_FORK_UNNEEDED;
}
