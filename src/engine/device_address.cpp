// SPDX-License-Identifier: BSD-3-Clause
#include "engine/device_address.h"

namespace heddle::engine {
namespace {

void append_word(std::vector<std::byte>& list, std::size_t word) {
  list.push_back(static_cast<std::byte>(word & 0xff));
  list.push_back(static_cast<std::byte>(word >> 8 & 0xff));
}

std::uint16_t word_at(const std::byte* at) {
  return static_cast<std::uint16_t>(std::to_integer<unsigned>(at[0]) |
                                    std::to_integer<unsigned>(at[1]) << 8);
}

}  // namespace

void append(std::vector<std::byte>& list, const device_address& a) {
  list.push_back(static_cast<std::byte>(a.name.size()));
  for (const char c : a.name) list.push_back(static_cast<std::byte>(c));
  append_word(list, a.lanes);
  append_word(list, a.bytes.size());
  list.insert(list.end(), a.bytes.begin(), a.bytes.end());
}

std::optional<device_address> take(std::span<const std::byte>& list) {
  if (list.empty()) return {};
  const auto name_bytes = std::to_integer<std::size_t>(list[0]);
  const std::size_t head = 1 + name_bytes + 4;
  if (list.size() < head) return {};
  const std::size_t bytes = word_at(list.data() + head - 2);
  if (list.size() < head + bytes) return {};
  const device_address taken{{reinterpret_cast<const char*>(list.data()) + 1, name_bytes},
                             word_at(list.data() + head - 4),
                             list.subspan(head, bytes)};
  list = list.subspan(head + bytes);
  return taken;
}

device_address find(std::span<const std::byte> list, std::string_view name) {
  while (const auto a = take(list))
    if (a->name == name) return *a;
  return {};
}

bool has_several(std::span<const std::byte> list) {
  return take(list) && take(list);
}

}  // namespace heddle::engine
