// SPDX-License-Identifier: BSD-3-Clause
// target.cpp - puts, gets and atomics of a peer.
#include "backends/tcp/target.h"

#include <heddle/detail/direct.h>

#include <algorithm>

#include "base/copy.h"
#include "sync/put_word.h"

namespace heddle::transport::tcp {
namespace {

memory::region_ref region_of(const frame& f) noexcept {
  return {f.slot, f.generation};
}

template <class T>
std::uint64_t apply(const frame& f, std::byte* at) noexcept {
  return heddle::detail::apply_atomic<T>(f.atomic, *reinterpret_cast<T*>(at),
                                         static_cast<T>(f.operand), static_cast<T>(f.compare));
}

}  // namespace

void target::on_put(const frame& f, std::span<const std::byte> here) noexcept {
  put_code_ = (f.flags & flag_part) != 0 ? part_code_ : status::done;
  if (put_code_ != status::done) return;
  const auto pin = shared_.regions.look_up(region_of(f), f.offset, f.payload, rights::write);
  put_code_ = pin.code();
  if (put_code_ != status::done) return;
  if (!sync::put_if_word(pin.at(), here.data(), here.size())) copy_few(pin.at(), here);
}

std::span<std::byte> target::place_for(const frame& f, std::size_t missing,
                                       memory::region_table::pinned& pin) noexcept {
  if (put_code_ == status::done) {
    pin = shared_.regions.look_up(region_of(f), f.offset + f.payload - missing, missing,
                                  rights::write);
    put_code_ = pin.code();
    if (put_code_ == status::done) return {pin.at(), missing};
  }
  return std::span(shared_.nowhere).first(std::min(missing, shared_.nowhere.size()));
}

bool target::end_put(const frame& f) noexcept {
  const bool last = (f.flags & flag_last) != 0;
  if ((f.flags & flag_part) != 0) part_code_ = last ? status::done : put_code_;
  if (!last) return true;
  last_put_code_ = put_code_;
  if (put_code_ != ack_code_ && !write_ack()) return false;
  ack_code_ = put_code_;
  ++acks_;
  return true;
}

bool target::write_ack() noexcept {
  if (acks_ == 0) return true;
  std::byte* const at = out_.frames.extend(common_header);
  if (at == nullptr) return false;
  write_put_ack(at, ack_code_, acks_);
  acks_ = 0;
  return true;
}

bool target::answer(std::uint32_t id, status code, std::uint64_t value) noexcept {
  std::byte* const at = out_.frames.extend(16);
  if (at == nullptr) return false;
  write_reply(at, code, id, value);
  return true;
}

bool target::on_get(const frame& f) noexcept {
  const auto pin = shared_.regions.look_up(region_of(f), f.offset, f.bytes, rights::read);
  if (pin.code() != status::done) return answer(f.id, pin.code(), 0);
  if (f.bytes > inline_reply) return out_.add_reply(f);
  std::byte* at = out_.frames.extend(16 + f.bytes);
  if (at == nullptr) return false;
  at += write_get_data(at, flag_whole, f.id, static_cast<std::uint32_t>(f.bytes));
  copy_few(at, {pin.at(), f.bytes});
  return true;
}

bool target::on_atomic(const frame& f) noexcept {
  const auto pin = shared_.regions.look_up(region_of(f), f.offset, f.width, rights::atomic);
  if (pin.code() != status::done) return answer(f.id, pin.code(), 0);
  if (reinterpret_cast<std::uintptr_t>(pin.at()) % f.width != 0)
    return answer(f.id, status::misaligned, 0);
  const std::uint64_t before =
      f.width == 4 ? apply<std::uint32_t>(f, pin.at()) : apply<std::uint64_t>(f, pin.at());
  return answer(f.id, status::done, before);
}

}  // namespace heddle::transport::tcp
