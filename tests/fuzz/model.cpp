// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/model.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "support/pattern.h"

namespace heddle::fuzz {

// --- memory -------------------------------------------------------------------------------------

namespace {

using extents = std::map<std::uint64_t, extent>;  // by begin

/// Cuts the extent that contains `at`, if any begins before it, in two.
void cut(extents& all, std::uint64_t at) {
  auto after = all.upper_bound(at);
  if (after == all.begin()) return;
  extent& left = std::prev(after)->second;
  if (left.begin == at || left.end <= at) return;
  extent right = left;
  right.begin = left.end = at;
  right.end = std::prev(after) == all.end() ? at : right.end;
  all.emplace(at, right);
}

void paint(extents& all, const extent& with) {
  cut(all, with.begin);
  const std::uint64_t end = with.end;
  cut(all, end);
  all.erase(all.lower_bound(with.begin), all.lower_bound(end));
  all.emplace(with.begin, with);
}

bool writes(const step& s) {
  return s.what == verb::put || s.what == verb::put_notify;
}

}  // namespace

std::vector<extent> contents(const plan& p, const area& a, int owner, std::size_t before,
                             const std::function<bool(const step&)>& succeeded) {
  extents all;
  if (a.bytes > word_bytes)
    all.emplace(word_bytes, extent{word_bytes, a.bytes, word_bytes, extent::nobody});
  for (std::size_t i = 0; i < before; ++i) {
    const step& s = p.steps[i];
    if (!writes(s) || s.area != a.id || s.peer != owner || s.bytes == 0) continue;
    paint(all, {s.at, s.at + s.bytes, s.at, succeeded(s) ? s.id : extent::uncertain});
  }
  std::vector<extent> list;
  for (const auto& [begin, e] : all) list.push_back(e);
  return list;
}

namespace {

bool is_right(const extent& e, std::uint64_t at, std::byte found) {
  if (e.writer == extent::uncertain) return true;
  if (e.writer == extent::nobody) return found == std::byte{0};
  return found == test::pattern_byte(static_cast<std::uint64_t>(e.writer), at - e.start);
}

}  // namespace

std::optional<std::uint64_t> first_wrong(std::span<const extent> expected,
                                         std::span<const std::byte> found, std::uint64_t at) {
  for (const extent& e : expected) {
    const std::uint64_t end = std::min(e.end, at + found.size());
    for (std::uint64_t i = std::max(e.begin, at); i < end; ++i)
      if (!is_right(e, i, found[i - at])) return i;
  }
  return {};
}

namespace {

std::uint64_t narrowed(std::uint64_t value, int width) {
  return width == 4 ? value & 0xffffffffU : value;
}

std::uint64_t applied(const word_access& a, std::uint64_t value, int width) {
  switch (static_cast<atomic_op>(a.op)) {
    case atomic_op::add:
      return narrowed(value + a.operand, width);
    case atomic_op::bit_and:
      return value & a.operand;
    case atomic_op::bit_or:
      return narrowed(value | a.operand, width);
    case atomic_op::bit_xor:
      return narrowed(value ^ a.operand, width);
    case atomic_op::swap:
      return narrowed(a.operand, width);
    case atomic_op::min:
      return std::min(value, narrowed(a.operand, width));
    case atomic_op::max:
      return std::max(value, narrowed(a.operand, width));
    default:
      break;
  }
  return value == narrowed(a.compare, width) ? narrowed(a.operand, width) : value;
}

/// Depth first through the orders; what was seen once leads nowhere a second time.
class search {
 public:
  search(std::span<const word_access> accesses, std::uint64_t last, int width)
      : accesses_(accesses), last_(last), width_(width) {}

  bool from(std::uint64_t value, unsigned taken) {
    if (is_end(value, taken)) return true;
    if (!seen_.emplace(value, taken).second) return false;
    for (unsigned i = 0; i < accesses_.size(); ++i)
      if ((taken & (1U << i)) == 0 && can_be_next(accesses_[i], value) &&
          from(applied(accesses_[i], value, width_), taken | (1U << i)))
        return true;
    return false;
  }

 private:
  [[nodiscard]] bool is_end(std::uint64_t value, unsigned taken) const {
    for (unsigned i = 0; i < accesses_.size(); ++i)
      if ((taken & (1U << i)) == 0 && accesses_[i].certain) return false;
    return value == last_;
  }
  [[nodiscard]] bool can_be_next(const word_access& a, std::uint64_t value) const {
    return !a.old || narrowed(*a.old, width_) == value;
  }

  std::span<const word_access> accesses_;
  std::uint64_t last_;
  int width_;
  std::set<std::pair<std::uint64_t, unsigned>> seen_;
};

}  // namespace

bool fetches(const step& s) {
  const bool always = s.ends == ending::blocking || s.ends == ending::coroutine;
  return always || s.id % 2 == 0;
}

bool explains(std::uint64_t first, std::span<const word_access> accesses, std::uint64_t last,
              int width) {
  return search(accesses, narrowed(last, width), width).from(narrowed(first, width), 0);
}

// --- messages -----------------------------------------------------------------------------------

std::vector<group> groups(const plan& p) {
  std::map<std::tuple<int, int, int, std::uint64_t>, group> all;
  for (const step& s : p.steps) {
    if (s.what != verb::send && s.what != verb::recv) continue;
    const int to = s.what == verb::send ? s.peer : s.rank;
    group& g = all[{s.phase, s.arrives_on(), to, group_of(s.tag)}];
    std::tie(g.phase, g.lane, g.to, g.number) =
        std::tuple(s.phase, s.arrives_on(), to, group_of(s.tag));
    (s.what == verb::send ? g.sends : g.receives).push_back(&s);
  }
  std::vector<group> list;
  for (auto& [place, g] : all) list.push_back(std::move(g));
  return list;
}

std::uint64_t digest(std::span<const std::byte> bytes) {
  std::uint64_t state = 0x9e3779b97f4a7c15 ^ bytes.size();
  for (std::size_t i = 0; i < bytes.size(); i += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + i, std::min<std::size_t>(8, bytes.size() - i));
    state = (state ^ word) * 0xbf58476d1ce4e5b9;
    state ^= state >> 29;
  }
  return state;
}

std::uint64_t digest_of(int id, std::uint64_t bytes) {
  return digest(test::pattern(bytes, static_cast<std::uint64_t>(id)));
}

// --- collectives and mistakes -------------------------------------------------------------------

std::uint64_t item_of(const step& s, int rank, std::size_t i) {
  const auto mixed =
      (static_cast<std::uint64_t>(s.id) * 31 + static_cast<std::uint64_t>(rank) * 7 + i + 1) *
      0x9e3779b97f4a7c15;
  return mixed ^ (mixed >> 31);
}

std::uint64_t reduced(const step& s, const std::vector<int>& members, std::size_t i) {
  std::uint64_t value = item_of(s, members[0], i);
  for (std::size_t m = 1; m < members.size(); ++m) {
    const std::uint64_t next = item_of(s, members[m], i);
    switch (s.op) {
      case 0:
        value += next;
        break;
      case 1:
        value = std::min(value, next);
        break;
      case 2:
        value = std::max(value, next);
        break;
      case 3:
        value *= next;
        break;
      case 4:
        value &= next;
        break;
      case 5:
        value |= next;
        break;
      default:
        value ^= next;
        break;
    }
  }
  return value;
}

status answer_to(mistake m) {
  switch (m) {
    case mistake::put_bounds:
    case mistake::get_bounds:
    case mistake::atomic_bounds:
      return status::out_of_bounds;
    case mistake::misaligned:
      return status::misaligned;
    case mistake::denied_put:
    case mistake::denied_get:
    case mistake::denied_atomic:
      return status::denied;
    case mistake::cancel_nothing:
      return status::not_found;
    case mistake::withdrawn_put:
    case mistake::withdrawn_get:
      return status::withdrawn;
    default:
      return status::invalid;
  }
}

namespace {

/// The rank that the setting HEDDLE_FAULTS cuts off from this one; -1: none.
int cut_off(const std::string& faults) {
  const std::size_t at = faults.find("kill=");
  return at == std::string::npos ? -1 : std::stoi(faults.substr(at + 5));
}

}  // namespace

prospect prospect_of(const plan& p, int rank) {
  for (const step& s : p.steps)
    if (s.rank == rank && (s.what == verb::kill || (s.what == verb::stop && s.bytes == 0)))
      return prospect::mortal;
  for (int other = 0; other < p.ranks; ++other) {
    const std::string faults = p.value_of("HEDDLE_FAULTS", other);
    if (faults.find("fail=") != std::string::npos) return prospect::mortal;
    if (cut_off(faults) >= 0 && (rank == other || rank == cut_off(faults))) return prospect::mortal;
  }
  for (const setting& s : p.settings)
    if (s.name.starts_with("ulimit_") && (s.rank == rank || s.rank == all_ranks))
      return prospect::weak;
  return prospect::good;
}

}  // namespace heddle::fuzz
