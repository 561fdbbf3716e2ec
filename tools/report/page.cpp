// SPDX-License-Identifier: BSD-3-Clause
// page.cpp - puts the data, the style and the scripts into the page.
#include "report/page.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <nlohmann/json.hpp>
#include <span>

#include "json_text.h"
#include "linktest/results/json_file.h"
#include "linktest/results/pair_class.h"
#include "report/parts.h"

namespace heddle::report {
namespace {

using namespace linktest;
using json = nlohmann::ordered_json;

/// What the page's script shows; the rest follows from it.
constexpr metric shown[]{metric::time_min, metric::time_median, metric::time_p99,
                         metric::time_max, metric::time_ci_low, metric::time_ci_high,
                         metric::samples};

template <class Value>
std::string packed(const std::vector<Value>& values) {
  const auto bytes = std::as_bytes(std::span(values));
  return base64({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

json matrices_of(const results& all, std::size_t size_index) {
  json out;
  for (const metric m : shown) {
    const std::vector<double> values = all.matrix(size_index, m);
    out[std::string(name_of(m))] = packed(std::vector<float>(values.begin(), values.end()));
  }
  out["state"] = packed(all.states(size_index));
  return out;
}

json classes_of(const run_record& run, std::size_t size_index) {
  json out = json::object();
  for (const class_figures& f : figures_by_class(run.facts, run.all, size_index))
    out[std::string(word_of(f.what))] = {{"pairs", f.pairs}, {"time", {{"median", f.time.median}}}};
  return out;
}

json data_of(const named_run& one) {
  json out = facts_as_json(one.run.facts, one.run.all);
  out["name"] = one.name;
  out["sizes"] = json::array();
  for (std::size_t s = 0; s < one.run.all.sizes().size(); ++s)
    out["sizes"].push_back({{"bytes", one.run.all.sizes()[s]},
                            {"classes", classes_of(one.run, s)},
                            {"matrices", matrices_of(one.run.all, s)}});
  return out;
}

/// Text that ends no element of the page, whatever is in it.
std::string harmless(std::string text) {
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos; at += 6)
    text.replace(at, 1, "\\u003c");
  return text;
}

void put(std::string& page, std::string_view mark, std::string_view text) {
  page.replace(page.find(mark), mark.size(), text);
}

}  // namespace

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    unsigned three = 0;
    for (std::size_t k = 0; k < 3; ++k)
      three = three << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (int shift = 18; shift >= 0; shift -= 6) out += digits[three >> shift & 63];
  }
  const std::size_t padding = (3 - bytes.size() % 3) % 3;
  out.replace(out.size() - padding, padding, padding, '=');
  return out;
}

std::string make_page(const std::vector<named_run>& runs) {
  json data;
  for (const named_run& one : runs) {
    if (one.run.all.ranks() > most_ranks_of_page)
      throw error(fmt::format(
          "{}: {} ranks are too many for one page, which holds {}; write -o FILE.csv or FILE.pdf",
          one.name, one.run.all.ranks(), most_ranks_of_page));
    data["runs"].push_back(data_of(one));
  }
  std::string page(page_html);
  // From the end to the front: what is put in may look like a mark.
  put(page, "@SCRIPT@", page_script);
  put(page, "@CHARTS@", page_charts);
  put(page, "@DATA@", harmless(tools::json_text(data)));
  put(page, "@STYLE@", page_css);
  put(page, "@TITLE@", "Heddle link test");
  return page;
}

}  // namespace heddle::report
