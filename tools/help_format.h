// SPDX-License-Identifier: BSD-3-Clause
// help_format.h - how --help looks: CLI11's layout with usage lines that say what is expected.
#pragma once
#include <CLI/CLI.hpp>
#include <string>

namespace heddle::tools {

/// Commands inherit it from the program they are added to.
class help_format : public CLI::Formatter {
 public:
  help_format() {
    column_width(32);
    label("SUBCOMMAND", "COMMAND ...");
  }
  [[nodiscard]] std::string make_usage(const CLI::App* app, std::string name) const override {
    if (!app->get_prefix_command()) return CLI::Formatter::make_usage(app, name);
    return "Usage: " + name + " [OPTIONS] [--] PROGRAM [ARGUMENTS...]\n";
  }
};

}  // namespace heddle::tools
