// SPDX-License-Identifier: BSD-3-Clause
#include "info/scale_model.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "bootstrap/host_gifts.h"
#include "info/counted_memory.h"

namespace heddle::tools {

using bootstrap::blob;
using bootstrap::host_gifts;

namespace {

constexpr std::byte meeting{'m'}, gift{'g'};
constexpr std::string_view introduction = "heddle-";  // how its first line begins

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

blob with_version(const blob& given) {
  blob value;
  value.reserve(1 + given.size());
  value.push_back(bootstrap::store_version);
  value.insert(value.end(), given.begin(), given.end());
  return value;
}

}  // namespace

// Behind the first line are the bytes by which hosts are told apart.
blob gift_of(const scale_job& job, int rank, std::span<const std::byte> mine) {
  blob theirs(mine.begin(), mine.end());
  const std::size_t begin = text_of(mine).find('\n') + 1;
  const int host = job.host_of(rank);
  if (host == job.measured_host || !text_of(mine).starts_with(introduction)) return theirs;
  if (begin + sizeof host <= theirs.size()) std::memcpy(theirs.data() + begin, &host, sizeof host);
  return theirs;
}

void lockstep::meet() {
  if (send(socket_.get(), &meeting, 1, MSG_NOSIGNAL) != 1)
    fail_errno(errno, "meet the other ranks of the host");
  await(++met_);
}

void lockstep::let_ahead() {
  await(met_ + 1);
}

void lockstep::await(int meetings) {
  while (heard_ < meetings) {
    const auto packet = receive();
    if (!packet || packet->front() != meeting) fail("the other ranks of the host have gone");
    ++heard_;
  }
}

void lockstep::tell(std::span<const std::byte> what) {
  blob packet;
  packet.reserve(1 + what.size());
  packet.push_back(gift);
  packet.insert(packet.end(), what.begin(), what.end());
  if (send(socket_.get(), packet.data(), packet.size(), MSG_NOSIGNAL) < 0)
    fail_errno(errno, "tell the other ranks of the host");
}

std::optional<blob> lockstep::hear() {
  auto packet = receive();
  if (!packet) return {};
  if (packet->front() != gift) fail("the other ranks of the host are out of step");
  packet->erase(packet->begin());
  return packet;
}

std::optional<blob> lockstep::receive() {
  blob packet(8192);
  ssize_t got = 0;
  do {
    got = recv(socket_.get(), packet.data(), packet.size(), 0);
  } while (got < 0 && errno == EINTR);
  if (got <= 0) return {};
  packet.resize(static_cast<std::size_t>(got));
  return packet;
}

model_store::model_store(const scale_job& job, std::string name, lockstep* beside,
                         store_traffic& traffic)
    : job_(job), name_(std::move(name)), beside_(beside), traffic_(traffic) {}

void model_store::give(std::span<const std::byte> mine) {
  const uncounted_memory model;
  mine_.assign(mine.begin(), mine.end());
  table_.reset();
}

void model_store::put(const std::string&, std::span<const std::byte> value) {
  ++traffic_.puts;
  traffic_.put_bytes += value.size();
}

void model_store::fence() {
  const uncounted_memory model;
  ++traffic_.fences;
  if (beside_ != nullptr) beside_->meet();
}

blob model_store::get(int rank, const std::string& key) {
  {
    const uncounted_memory model;
    got_ = with_version(value_of(rank, key));
  }
  ++traffic_.gets;
  traffic_.got_bytes += got_.size();
  return got_;
}

/// A host's first rank leads it. Those of the measured host that are no circle's are asked
/// themselves.
blob model_store::value_of(int rank, const std::string& key) {
  if (key == bootstrap::gifts_key(0)) return blob(sizeof(bootstrap::secret_bytes));
  int round = 0, level = 0, group = 0;
  std::size_t number = 0;
  if (std::sscanf(key.c_str(), "heddle-%d-all-%zu", &round, &number) == 2) return piece(number);
  if (std::sscanf(key.c_str(), "heddle-%d-%d-%d", &round, &level, &group) == 3) {
    long ranks = 1;
    for (int l = 0; l < level; ++l) ranks *= bootstrap::store_group;
    return gifts_of(static_cast<int>(group * ranks),
                    static_cast<int>(std::min<long>((group + 1) * ranks, job_.ranks)));
  }
  const int host = job_.host_of(rank), leader = job_.first_of(host);
  if (host == job_.measured_host) return gifts_of(rank, rank + 1);
  if (rank != leader) return host_gifts::encode_leader(leader);
  return gifts_of(leader, job_.end_of(host));
}

blob model_store::gifts_of(int first, int end) const {
  host_gifts all(first, end);
  for (int rank = first; rank < end; ++rank) all.add(rank, gift_of(job_, rank, mine_));
  return all.take();
}

blob model_store::piece(std::size_t number) {
  if (!table_) {
    std::vector<blob> all;
    for (int rank = 0; rank < job_.ranks; ++rank) all.push_back(gift_of(job_, rank, mine_));
    const bootstrap::gathered made(all);
    table_.emplace(made.encoded().begin(), made.encoded().end());
  }
  const auto count = static_cast<std::uint32_t>((table_->size() + bootstrap::bytes_in_piece - 1) /
                                                bootstrap::bytes_in_piece);
  const std::size_t begin = number * bootstrap::bytes_in_piece;
  const auto bytes = std::span(*table_).subspan(
      begin, std::min(bootstrap::bytes_in_piece, table_->size() - begin));
  blob value(sizeof count + bytes.size());
  std::memcpy(value.data(), &count, sizeof count);
  std::ranges::copy(bytes, value.begin() + sizeof count);
  return value;
}

}  // namespace heddle::tools
