// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/plan.h"

#include <algorithm>

namespace heddle::fuzz {
namespace {

template <class List>
auto with_id(const List& all, int id) -> decltype(all.data()) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& x) { return x.id == id; });
  return found == all.end() ? nullptr : &*found;
}

bool harms(const setting& s) {
  if (s.name.starts_with("ulimit_")) return true;
  return s.name == "HEDDLE_FAULTS" &&
         (s.value.find("kill=") != std::string::npos || s.value.find("fail=") != std::string::npos);
}

}  // namespace

int plan::phases() const {
  int last = -1;
  for (const step& s : steps)
    if (!is_late(s.what)) last = std::max(last, s.phase);
  return last + 1;
}

int plan::ids() const {
  int highest = -1;
  for (const step& s : steps) highest = std::max(highest, s.id);
  return highest + 1;
}

const step* plan::find(int id) const {
  return with_id(steps, id);
}
const area* plan::find_area(int id) const {
  return with_id(areas, id);
}

std::string plan::value_of(std::string_view name, int rank) const {
  std::string value;
  for (const setting& s : settings)
    if (s.name == name && (s.rank == all_ranks || s.rank == rank)) value = s.value;
  return value;
}

bool plan::harsh() const {
  const auto ends_a_rank = [](const step& s) {
    return s.what == verb::kill || (s.what == verb::stop && s.bytes == 0);
  };
  return std::any_of(settings.begin(), settings.end(), harms) ||
         std::any_of(steps.begin(), steps.end(), ends_a_rank);
}

bool has_form(const step& s) {
  switch (s.as) {
    case form::plain:
      return true;
    case form::blocks:
      return s.what == verb::put || s.what == verb::get || s.what == verb::send ||
             s.what == verb::recv || s.what == verb::call;
    case form::matched:
      return s.what == verb::recv && (s.ends == ending::blocking || s.ends == ending::coroutine);
    case form::named:
    case form::placed:
      return s.what == verb::call;
    case form::grouped:
      return is_collective(s.what);
    case form::posted:
      return orders(s.what) && s.ends != ending::blocking && s.ends != ending::counter;
    case form::limited:
      return orders(s.what) || (s.what == verb::recv && s.ends == ending::blocking);
  }
  return false;
}

std::vector<int> members_of(const step& s, int rank, int ranks) {
  std::vector<int> all;
  for (int r = 0; r < ranks; ++r)
    if (s.as != form::grouped || r % 2 == rank % 2) all.push_back(r);
  if (s.as == form::grouped) std::reverse(all.begin(), all.end());
  return all;
}

int root_of(const step& s, int rank, int ranks) {
  if (s.peer >= ranks) return s.peer;
  return s.peer % static_cast<int>(members_of(s, rank, ranks).size());
}

}  // namespace heddle::fuzz
