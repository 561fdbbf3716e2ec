// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/results/json_stream.h"

#include <nlohmann/json.hpp>

#include "json_text.h"

namespace heddle::linktest {

using json = nlohmann::ordered_json;

void json_stream::key(std::string_view name) {
  begin_entry();
  out_(tools::json_text(json(name)));
  out_(": ");
  behind_key_ = true;
}

/// The lines of a text have no other line ends than those between values.
void json_stream::value(const json& what) {
  begin_entry();
  const std::string text = tools::json_text(what, 1);
  std::string_view rest = text;
  for (std::size_t end; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1)) {
    out_(rest.substr(0, end));
    begin_line();
  }
  out_(rest);
}

void json_stream::end() {
  const level last = open_.back();
  open_.pop_back();
  if (!last.empty) begin_line();
  out_({&last.closing, 1});
}

void json_stream::begin(char opening, char closing) {
  begin_entry();
  out_({&opening, 1});
  open_.push_back({closing, true});
}

void json_stream::begin_entry() {
  if (!behind_key_ && !open_.empty()) {
    if (!open_.back().empty) out_(",");
    open_.back().empty = false;
    begin_line();
  }
  behind_key_ = false;
}

void json_stream::begin_line() {
  out_("\n");
  out_(std::string(open_.size(), ' '));
}

}  // namespace heddle::linktest
