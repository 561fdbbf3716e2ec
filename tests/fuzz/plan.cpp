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

}  // namespace heddle::fuzz
