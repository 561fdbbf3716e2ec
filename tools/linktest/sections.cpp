// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/sections.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "linktest/rules/expectation.h"

namespace heddle::linktest {
namespace {

std::vector<run_mode> modes_of(const options& chosen) {
  if (chosen.mode != run_mode::paired) return {chosen.mode};
  return {run_mode::serial, run_mode::parallel};
}

std::string name_of_section(const options& how, const options& chosen) {
  std::string name = fmt::format("{}-{}", name_of(how.kernel), name_of(how.op));
  if (chosen.layers.size() > 1) name += '-' + how.layer;
  if (chosen.mode == run_mode::paired) name += fmt::format("-{}", name_of(how.mode));
  return name;
}

}  // namespace

std::vector<section> sections_of(const options& chosen) {
  std::vector<section> out;
  for (const std::string& layer : chosen.layers) {
    for (const kernel k : chosen.kernels) {
      for (const operation op : chosen.ops) {
        for (const run_mode mode : modes_of(chosen)) {
          options how = chosen;
          how.layers = {how.layer = layer};
          how.kernels = {how.kernel = k};
          how.ops = {how.op = op};
          how.mode = mode;
          out.push_back({name_of_section(how, chosen), how});
        }
      }
    }
  }
  for (section& one : out) {
    one.how.search.expect = rules_for(chosen.search.expect, one.how);
    one.how.search.time_s /= static_cast<double>(out.size());
    if (out.size() > 1 && std::filesystem::is_directory(chosen.search.baseline))
      one.how.search.baseline += '/' + one.name;
  }
  return out;
}

int worse_of(int a, int b) noexcept {
  constexpr int by_signal = 128;
  if (a == success || b == success) return a == success ? b : a;
  if (a >= by_signal || b >= by_signal) return std::max(a, b);
  return std::min(a, b);
}

}  // namespace heddle::linktest
