// SPDX-License-Identifier: BSD-3-Clause
// json_stream.h - a JSON document that is written as it is made, indented as tools::json_text()
// indents it by one.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "linktest/results/text_file.h"

namespace heddle::linktest {

/// Memory: that of one value. One thread.
class json_stream {
 public:
  /// Which must outlive it.
  explicit json_stream(const text_sink& out) : out_(out) {}

  void begin_object() { begin('{', '}'); }
  void begin_array() { begin('[', ']'); }
  /// Of the object that was begun last; its value comes next.
  void key(std::string_view name);
  void value(const nlohmann::ordered_json& what);
  /// Of what was begun last.
  void end();

 private:
  struct level {
    char closing;
    bool empty;
  };
  void begin(char opening, char closing);
  void begin_entry();
  void begin_line();

  const text_sink& out_;
  std::vector<level> open_;
  bool behind_key_ = false;
};

}  // namespace heddle::linktest
