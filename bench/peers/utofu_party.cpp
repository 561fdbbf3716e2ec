// utofu_party.cpp - two processes, their VCQs and tables.
#include "peers/utofu_party.h"

#include <algorithm>
#include <stdexcept>

#include "bench/gups_stream.h"

namespace heddle::peers {
namespace {

constexpr std::size_t line_bytes = 128;

/// The table itself, and a line for each thread.
std::size_t table_bytes(const task& t) {
  if (t.gups) return bench::gups_words(t.memory_bytes) * sizeof(std::uint64_t);
  return layout_for(t.what).bytes() + static_cast<std::size_t>(t.what.threads) * line_bytes;
}

const task& checked_task(const task& t) {
  constexpr std::uint64_t most_bytes = (1 << 24) - 1;
  if (t.overlap || t.what.op == operation::tag) {
    throw std::runtime_error("uTofu has no tagged messages; compare am, a put with a notice");
  }
  if (t.what.bytes == 0 || t.what.bytes > most_bytes) {
    throw std::runtime_error("uTofu moves 1 to 16777215 bytes at once");
  }
  return t;
}

int threads_of_path(const task& t, int path) {
  int count = 0;
  for (int thread = 0; thread < t.what.threads; ++thread) count += t.path_of(thread) == path;
  return count;
}

}  // namespace

std::uint64_t utofu_seat::control() const noexcept {
  return layout_for(what.what).bytes() + static_cast<std::uint64_t>(thread) * line_bytes;
}

utofu_party::utofu_party(const process_pair& both, const task& t)
    : both_(both), task_(checked_task(t)), table_(table_bytes(t)) {
  open_paths();
}

void utofu_party::open_paths() {
  std::vector<utofu_target> mine, theirs;
  for (int i = 0; i < task_.paths; ++i) {
    paths_.push_back(std::make_unique<utofu_path>(static_cast<std::size_t>(i),
                                                  threads_of_path(task_, i), table_));
    all_paths_.push_back(paths_.back().get());
    mine.push_back(paths_.back()->mine());
  }
  theirs.resize(mine.size());
  tell(std::as_bytes(std::span(mine)));
  hear(std::as_writable_bytes(std::span(theirs)));
  for (std::size_t i = 0; i < paths_.size(); ++i) paths_[i]->connect(theirs[i]);
}

utofu_seat utofu_party::seat_of(int thread) {
  const int path = task_.path_of(thread);
  int first = thread;
  while (first > 0 && task_.path_of(first - 1) == path) --first;
  return {task_,     *all_paths_[static_cast<std::size_t>(path)], thread, thread - first, table_,
          all_paths_};
}

std::unique_ptr<exchange> utofu_party::make_exchange(int thread) {
  return make_utofu_exchange(seat_of(thread));
}

std::unique_ptr<bench::overlap_side> utofu_party::make_side() {
  throw std::logic_error("overlap is of tagged messages");
}

std::span<std::uint64_t> utofu_party::words() {
  return {reinterpret_cast<std::uint64_t*>(table_.data()), bench::gups_words(task_.memory_bytes)};
}

std::unique_ptr<updater> utofu_party::make_updater(int thread) {
  return make_utofu_updater(seat_of(thread));
}

}  // namespace heddle::peers
