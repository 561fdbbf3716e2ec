// SPDX-License-Identifier: BSD-3-Clause
#include "backends/verbs/hello.h"

#include <sodium.h>

#include <cstring>

#include "base/settings.h"

namespace heddle::transport::verbs {
namespace {

constexpr std::uint64_t magic = 0x3230'5342'5645'4448u;  // "HDEVBS02": and the version
constexpr std::size_t said_bytes = 8 + sizeof(hello);

using proof = std::array<std::byte, proof_bytes>;

proof prove(std::span<const std::byte> said, std::span<const std::byte, 32> job_secret) noexcept {
  const auto chars = [](const std::byte* p) { return reinterpret_cast<const unsigned char*>(p); };
  proof out;
  crypto_generichash(reinterpret_cast<unsigned char*>(out.data()), out.size(), chars(said.data()),
                     said.size(), chars(job_secret.data()), job_secret.size());
  return out;
}

}  // namespace

hello_image encode(const hello& h, std::span<const std::byte, 32> job_secret) noexcept {
  hello_image out{};
  std::memcpy(out.data(), &magic, sizeof magic);
  std::memcpy(out.data() + sizeof magic, &h, sizeof h);
  const proof p = prove(std::span(out).first(said_bytes), job_secret);
  std::memcpy(out.data() + said_bytes, p.data(), p.size());
  return out;
}

std::optional<hello> parse_hello(std::span<const std::byte> bytes,
                                 std::span<const std::byte, 32> job_secret) noexcept {
  if (bytes.size() != sizeof(hello_image)) return std::nullopt;
  if (std::memcmp(bytes.data(), &magic, sizeof magic) != 0) return std::nullopt;
  const proof expected = prove(bytes.first(said_bytes), job_secret);
  if (sodium_memcmp(expected.data(), bytes.data() + said_bytes, expected.size()) != 0)
    return std::nullopt;
  hello h;
  std::memcpy(&h, bytes.data() + sizeof magic, sizeof h);
  const bool known = h.kind <= hello::kind_t::refuse && h.from_lane < max_lanes &&
                     h.to_lane < max_lanes && h.from >= 0;
  return known ? std::optional(h) : std::nullopt;
}

}  // namespace heddle::transport::verbs
