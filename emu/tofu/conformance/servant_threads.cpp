// SPDX-License-Identifier: BSD-3-Clause
// What a process does with several threads when told.
#include <atomic>
#include <cstring>
#include <thread>

#include "servant.h"

namespace conformance {
namespace {

struct aim {
  utofu_vcq_hdl_t hdl;
  utofu_vcq_id_t to;
  utofu_stadd_t at;
};

int put_word(const aim& target, std::uint64_t slot, std::uint64_t value) {
  return utofu_put_piggyback8(target.hdl, target.to, value, target.at + 8 * slot, 8, 0, 0, nullptr);
}

/// Posts and polls without a lock until the time is over.
void use_alone(const aim& target, std::uint64_t slot, std::uint64_t end_ns,
               std::atomic<std::uint64_t>& posted) {
  void* cbdata = nullptr;
  utofu_mrq_notice notice{};
  while (!has_passed(end_ns)) {
    if (put_word(target, slot, slot) == UTOFU_SUCCESS)
      posted.fetch_add(1, std::memory_order_relaxed);
    utofu_poll_tcq(target.hdl, 0, &cbdata);
    utofu_poll_mrq(target.hdl, 0, &notice);
  }
}

/// Prepares the same put over and over. Counts descriptors that come out different.
void prepare_alone(const aim& target, std::uint64_t slot, std::uint64_t end_ns,
                   std::atomic<std::uint64_t>& made, std::atomic<std::uint64_t>& spoilt) {
  char first[64] = {}, again[64] = {};
  std::size_t size = sizeof first;
  utofu_prepare_put_piggyback8(target.hdl, target.to, slot, target.at + 8 * slot, 8, 0, 0, first,
                               &size);
  while (!has_passed(end_ns)) {
    std::memset(again, 0, sizeof again);
    std::size_t bytes = sizeof again;
    utofu_prepare_put_piggyback8(target.hdl, target.to, slot, target.at + 8 * slot, 8, 0, 0, again,
                                 &bytes);
    made.fetch_add(1, std::memory_order_relaxed);
    if (bytes != size || std::memcmp(first, again, size) != 0)
      spoilt.fetch_add(1, std::memory_order_relaxed);
  }
}

/// Registers and deregisters memory of its own until the time is over.
void enroll_alone(const vcq& with, std::uint64_t end_ns, std::atomic<std::uint64_t>& made,
                  std::atomic<std::uint64_t>& refused) {
  const memory own(memory::page);
  while (!has_passed(end_ns)) {
    registration one(with, own.at(), own.size());
    const bool well = one.ok() && one.close() == UTOFU_SUCCESS;
    (well ? made : refused).fetch_add(1, std::memory_order_relaxed);
  }
}

}  // namespace

// args: VCQ, VCQ and STADD of the words, threads, milliseconds. All threads use the VCQ at once.
reply servant::share(const request& asked) {
  const aim target = {vcqs_[asked.args[0]].hdl(), asked.args[1], asked.args[2]};
  const std::uint64_t end = now_ns() + asked.args[4] * 1000000;
  std::atomic<std::uint64_t> posted{0};
  std::vector<std::thread> threads;
  for (std::uint64_t slot = 0; slot < asked.args[3]; ++slot) {
    threads.emplace_back([&, slot] { use_alone(target, slot, end, posted); });
  }
  for (std::thread& one : threads) one.join();
  return {0, {posted.load(std::memory_order_relaxed)}};
}

// args: VCQ, VCQ and STADD of the words, 0 prepare or 1 register, milliseconds. Two threads do that
// while this one uses the VCQ: posts, what the two did, what went wrong.
reply servant::crowd(const request& asked) {
  const vcq& with = vcqs_[asked.args[0]];
  const aim target = {with.hdl(), asked.args[1], asked.args[2]};
  const std::uint64_t end = now_ns() + asked.args[4] * 1000000;
  std::atomic<std::uint64_t> posted{0}, made{0}, wrong{0};
  const auto beside = [&](std::uint64_t slot) {
    if (asked.args[3] == 0) prepare_alone(target, slot, end, made, wrong);
    if (asked.args[3] == 1) enroll_alone(with, end, made, wrong);
  };
  std::thread one(beside, 1), two(beside, 2);
  use_alone(target, 0, end, posted);
  one.join();
  two.join();
  return {0,
          {posted.load(std::memory_order_relaxed), made.load(std::memory_order_relaxed),
           wrong.load(std::memory_order_relaxed)}};
}

}  // namespace conformance
