// SPDX-License-Identifier: BSD-3-Clause
// wire_fuzz.cpp - libFuzzer target over everything that reads bytes of a tcp peer, and over what a
// verbs peer puts into one buffer.
//
// First byte: what to feed. 0: hello. 1: one frame. 2: an engine's message. 3: records of an
// encrypted connection. 4: a parcel. Others: a stream, cut into pieces whose sizes come from the
// input too.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "backends/tcp/frame.h"
#include "backends/tcp/hello.h"
#include "backends/tcp/reassembler.h"
#include "backends/tcp/records.h"
#include "backends/verbs/parcel.h"
#include "protocols/message.h"

namespace {

using namespace heddle::protocols;
using namespace heddle::transport::tcp;
using input = std::span<const std::byte>;

void require(bool holds) {
  if (!holds) std::abort();
}

void feed_hello(input bytes) {
  if (const auto h = parse_hello(bytes)) {
    require(h->from_lane < heddle::max_lanes && h->to_lane < heddle::max_lanes);
    require(std::ranges::equal(encode(*h), bytes));
  }
}

void feed_frame(input bytes) {
  const parsed p = parse_frame(bytes);
  if (p.is == verdict::frame) require(p.head.payload <= max_fragment);
  if (p.is == verdict::more) require(bytes.size() < max_header);
}

void feed_message(input bytes) {
  message m;
  if (!parse_message(bytes, m)) return;
  require(m.handler < heddle::max_handlers && m.header.size() <= heddle::max_call_header);
  require(m.payload.data() + m.payload.size() == bytes.data() + bytes.size());
  const prefix again(m);  // what was parsed is printed back as it came
  require(std::ranges::equal(again.bytes(), bytes.first(bytes.size() - m.payload.size())));
}

// Takes all frames out; returns how much of the last payload is still to come, or nothing: bad.
std::optional<std::uint32_t> take_all(reassembler& in) {
  for (;;) {
    const auto i = in.next();
    if (i.is == verdict::bad) return std::nullopt;
    if (i.is == verdict::more) return 0;
    require(i.payload.size() + i.missing == i.head.payload);
    if (!i.payload.empty()) (void)static_cast<volatile std::byte>(i.payload.back());
    if (i.missing == 0) continue;
    require(in.empty());
    return i.missing;
  }
}

void feed_stream(input bytes) {
  reassembler in;
  std::size_t missing = 0;
  while (!bytes.empty()) {
    if (missing != 0) {
      const std::size_t n = std::min(missing, bytes.size());
      bytes = bytes.subspan(n);
      missing -= n;
      continue;
    }
    const auto room = in.room();
    require(!room.empty());
    const auto wanted = 1 + std::to_integer<std::size_t>(bytes[0]);
    const std::size_t n = std::min({room.size(), bytes.size(), wanted});
    std::copy_n(bytes.begin(), n, room.begin());
    in.filled(n);
    bytes = bytes.subspan(n);
    const auto left = take_all(in);
    if (!left) return;
    missing = *left;
  }
}

constexpr cipher::key fuzz_key{};

/// The records of `plain`, of up to `most` bytes each.
std::vector<std::byte> sealed(input plain, std::size_t most) {
  cipher c(algorithm::chacha20_poly1305, fuzz_key);
  std::vector<std::byte> out;
  for (; !plain.empty(); plain = plain.subspan(std::min(most, plain.size()))) {
    const std::size_t at = out.size(), n = std::min(most, plain.size());
    out.resize(at + n + record_extra);
    store_le(out.data() + at, static_cast<std::uint32_t>(n));
    c.seal({out.data() + at, record_head}, plain.first(n), out.data() + at + record_head);
  }
  return out;
}

/// What is taken of `stream`, which comes in pieces.
std::vector<std::byte> opened(input stream, std::size_t piece, bool& forged) {
  record_reader in(algorithm::chacha20_poly1305, fuzz_key);
  std::vector<std::byte> out, some(piece);
  for (;;) {
    if (const std::size_t n = in.take(some); n != 0) {
      out.insert(out.end(), some.begin(), some.begin() + static_cast<std::ptrdiff_t>(n));
      continue;
    }
    forged = in.forged();
    if (forged || stream.empty()) return out;
    const auto room = in.room();
    require(!room.empty());
    const std::size_t n = std::min({room.size(), stream.size(), piece});
    std::copy_n(stream.begin(), n, room.begin());
    in.filled(n);
    stream = stream.subspan(n);
  }
}

// Five bytes: size of records, of pieces, what is changed, and where (two); then what is said.
void feed_records(input bytes) {
  if (bytes.size() < 6) return;
  const auto number = [&](std::size_t i) { return std::to_integer<std::size_t>(bytes[i]); };
  const std::size_t most = 1 + number(0), piece = 1 + number(1) * number(1);
  const std::byte change = bytes[2];
  const std::size_t place = number(3) << 8 | number(4);
  const input said = bytes.subspan(5);
  bool forged = false;
  require(opened(said, piece, forged).empty());  // nobody makes a record without the key
  std::vector<std::byte> stream = sealed(said, most);
  const std::size_t at = place % stream.size();
  stream[at] ^= change;
  const auto got = opened(stream, piece, forged);
  const std::size_t whole = change == std::byte{} ? said.size() : at / (most + record_extra) * most;
  require(std::ranges::equal(got, said.first(whole)));
  require(!(forged && change == std::byte{}));
}

// Its messages lie in it one behind the other.
void feed_parcel(input bytes) {
  const std::byte* last = bytes.data();
  heddle::transport::verbs::parcel all(bytes);
  while (!all.empty()) {
    const input message = all.next();
    if (message.empty()) return require(all.empty());
    require(message.data() > last && &message.back() <= &bytes.back());
    last = &message.back();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  if (bytes.empty()) return 0;
  const auto which = std::to_integer<unsigned>(bytes[0]);
  if (which == 0) {
    feed_hello(bytes.subspan(1));
  } else if (which == 1) {
    feed_frame(bytes.subspan(1));
  } else if (which == 2) {
    feed_message(bytes.subspan(1));
  } else if (which == 3) {
    feed_records(bytes.subspan(1));
  } else if (which == 4) {
    feed_parcel(bytes.subspan(1));
  } else {
    feed_stream(bytes.subspan(1));
  }
  return 0;
}
