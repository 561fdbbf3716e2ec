// SPDX-License-Identifier: BSD-3-Clause
// What a process does with barrier gates when told.
#include <cstring>

#include "servant.h"

namespace conformance {

servant::gates::~gates() {
  if (!ids.empty()) utofu_free_vbg(ids.data(), ids.size());
}

// args: TNI, how many. Answers their ids, the start and end gate first.
reply servant::open_gates(const request& asked) {
  std::vector<utofu_vbg_id_t> ids(asked.args[1], UTOFU_VBG_ID_NULL);
  reply answer;
  answer.code = utofu_alloc_vbg(utofu_tni_id_t(asked.args[0]), ids.size(), 0, ids.data());
  if (answer.code != UTOFU_SUCCESS) return answer;
  for (std::size_t i = 0; i < ids.size() && i < 8; ++i) answer.values[i] = ids[i];
  gates_.ids = ids;
  return answer;
}

// args: gate, sources local and remote, destinations local and remote. connect_gates makes it so.
reply servant::set_gate(const request& asked) {
  utofu_vbg_setting setting{};
  setting.vbg_id = asked.args[0];
  setting.src_lcl_vbg_id = asked.args[1];
  setting.src_rmt_vbg_id = asked.args[2];
  setting.dst_lcl_vbg_id = asked.args[3];
  setting.dst_rmt_vbg_id = asked.args[4];
  std::memset(setting.dst_path_coords, UTOFU_PATH_COORD_NULL, sizeof setting.dst_path_coords);
  gates_.settings.push_back(setting);
  return {};
}

reply servant::connect_gates(const request&) {
  reply answer;
  answer.code = utofu_set_vbg(gates_.settings.data(), gates_.settings.size());
  gates_.settings.clear();
  return answer;
}

reply servant::start_barrier(const request&) {
  return {utofu_barrier(gates_.ids[0], 0), {}};
}

// args: operation, count, values.
reply servant::start_reduce(const request& asked) {
  std::uint64_t data[8] = {};
  std::memcpy(data, asked.args + 2, sizeof data - 8);
  const auto op = static_cast<utofu_reduce_op>(asked.args[0]);
  if (op == UTOFU_REDUCE_OP_BFPSUM) {
    double numbers[8];
    std::memcpy(numbers, data, sizeof numbers);
    return {utofu_reduce_double(gates_.ids[0], op, numbers, asked.args[1], 0), {}};
  }
  return {utofu_reduce_uint64(gates_.ids[0], op, data, asked.args[1], 0), {}};
}

// args: what was started (0 barrier, 1 reduction of integers, 2 of doubles), milliseconds.
reply servant::poll_gate(const request& asked) {
  reply answer;
  const std::uint64_t end = now_ns() + asked.args[1] * 1000000;
  unsigned looks = 0;
  double numbers[8] = {};
  do {
    breathe(looks);
    const utofu_vbg_id_t gate = gates_.ids[0];
    if (asked.args[0] == 0) answer.code = utofu_poll_barrier(gate, 0);
    if (asked.args[0] == 1) answer.code = utofu_poll_reduce_uint64(gate, 0, answer.values);
    if (asked.args[0] == 2) answer.code = utofu_poll_reduce_double(gate, 0, numbers);
  } while (answer.code == UTOFU_ERR_NOT_COMPLETED && !has_passed(end));
  if (asked.args[0] == 2) std::memcpy(answer.values, numbers, sizeof numbers);
  return answer;
}

}  // namespace conformance
