// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/measure/visit_log.h"

#include <fcntl.h>
#include <heddle/status.h>
#include <sys/stat.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "linktest/results/output.h"

namespace heddle::linktest {
namespace {

auto order_of(const measured_visit& v) {
  return std::tuple(v.peer, v.size_index, v.repetition);
}

std::string shard_of(std::span<const std::string> hosts, int self) {
  const std::string& mine = hosts[static_cast<std::size_t>(self)];
  const auto lowest = std::find(hosts.begin(), hosts.end(), mine) - hosts.begin();
  auto highest = static_cast<std::ptrdiff_t>(hosts.size()) - 1;
  while (hosts[static_cast<std::size_t>(highest)] != mine) --highest;
  return shard_name(static_cast<int>(lowest), static_cast<int>(highest));
}

}  // namespace

visit_log::visit_log(log_place where, int self, std::span<const std::string> hosts,
                     std::size_t sizes)
    : where_(std::move(where)),
      self_(self),
      path_(where_.folder() + '/' + shard_of(hosts, self)),
      sizes_(sizes) {
  const std::string& mine = hosts[static_cast<std::size_t>(self)];
  for (const std::string& theirs : hosts) marks_.push_back(hosts_mark(mine, theirs));
  read_earlier();
}

/// Of each peer and size the visits from the first on; what is behind a gap is measured again.
void visit_log::read_earlier() {
  std::vector<measured_visit> found;
  const auto ranks = static_cast<int>(marks_.size());
  for (const std::string& file : shards_with(where_.folder(), self_)) {
    for (measured_visit& v : visits_in(read_text(file))) {
      const bool mine = v.run == where_.run && v.initiator == self_ && v.size_index < sizes_ &&
                        v.peer >= 0 && v.peer < ranks && v.peer != self_;
      if (mine && v.hosts == marks_[static_cast<std::size_t>(v.peer)])
        found.push_back(std::move(v));
    }
  }
  std::stable_sort(
      found.begin(), found.end(),
      [](const measured_visit& a, const measured_visit& b) { return order_of(a) < order_of(b); });
  for (measured_visit& v : found) {
    std::uint32_t& visits = visits_[{v.peer, v.size_index}];
    if (v.repetition != visits) continue;
    ++visits;
    earlier_.push_back(std::move(v));
  }
}

bool visit_log::has(std::size_t size_index, int peer, std::uint64_t repetition) const noexcept {
  const auto known = visits_.find({peer, size_index});
  return known != visits_.end() && repetition < known->second;
}

void visit_log::restore(row& into) const {
  for (const measured_visit& v : earlier_) {
    for (const float time : v.times) into.add_time(v.size_index, v.peer, time);
    if (v.singles.n != 0) into.set_singles(v.size_index, v.peer, v.singles);
    into.mark(v.size_index, v.peer, v.state);
  }
}

void visit_log::keep(measured_visit visit) {
  if (path_.empty() || problem_ != 0) return;
  visit.run = where_.run;
  visit.hosts = marks_[static_cast<std::size_t>(visit.peer)];
  visit.initiator = self_;
  pending_ += to_record(visit);
  if (clock::now() - written_ >= between_writes) flush();
}

void visit_log::flush() {
  written_ = clock::now();
  if (pending_.empty() || problem_ != 0) return;
  if (file_.get() < 0) {
    for (const std::string& folder : {where_.run_folder, where_.folder()})
      ::mkdir(folder.c_str(), 0777);  // where this host does not see those of rank 0
    file_ = descriptor(::open(path_.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0666));
  }
  problem_ = file_.get() < 0 ? errno : write_all(file_.get(), pending_);
  pending_.clear();
}

void visit_log::forget() noexcept {
  if (path_.empty()) return;
  ::unlink(path_.c_str());
  ::rmdir(where_.folder().c_str());
  ::rmdir(where_.run_folder.c_str());
}

}  // namespace heddle::linktest
