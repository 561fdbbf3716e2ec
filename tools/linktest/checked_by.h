// SPDX-License-Identifier: BSD-3-Clause
// checked_by.h - options whose text a parser of ours takes.
#pragma once
#include <heddle/status.h>

#include <CLI/CLI.hpp>
#include <string>

namespace heddle::linktest {

/// Turns what a parser throws into a refusal of the option.
template <class Parse>
CLI::Validator checked_by(Parse parse) {
  return {[parse](const std::string& text) -> std::string {
            try {
              parse(text);
              return {};
            } catch (const error& problem) {
              return problem.what();
            }
          },
          ""};
}

}  // namespace heddle::linktest
