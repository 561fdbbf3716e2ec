#include "info/scale_model.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>

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

// The second line is the host's identity, which is as long on all hosts.
blob gift_of(const scale_job& job, int rank, std::span<const std::byte> mine) {
  blob theirs(mine.begin(), mine.end());
  if (job.host_of(rank) == job.measured_host() || !text_of(mine).starts_with(introduction))
    return theirs;
  const std::size_t begin = text_of(mine).find('\n') + 1;
  const std::string other = fmt::format("{:08x}", job.host_of(rank));
  const auto bytes = std::as_bytes(std::span(other));
  const std::size_t room = std::min(text_of(mine).substr(begin).find('\n'), bytes.size());
  std::ranges::copy(bytes.last(room), theirs.begin() + static_cast<std::ptrdiff_t>(begin));
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
    got_ = value_of(rank, key);
  }
  ++traffic_.gets;
  traffic_.got_bytes += got_.size();
  return got_;
}

/// A host's first rank leads it. Those of the measured host that are no circle's are asked
/// themselves.
blob model_store::value_of(int rank, const std::string& key) const {
  if (key == "heddle-0") return with_version(blob(sizeof(bootstrap::secret_bytes)));
  const int host = job_.host_of(rank), leader = job_.first_of(host);
  const bool alone = host == job_.measured_host();
  if (!alone && rank != leader) return with_version(host_gifts::encode_leader(leader));
  host_gifts::gifts given;
  for (int r = rank; r < (alone ? rank + 1 : job_.end_of(host)); ++r)
    given.emplace_back(r, gift_of(job_, r, mine_));
  return with_version(host_gifts::encode(given));
}

}  // namespace heddle::tools
