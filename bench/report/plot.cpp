// SPDX-License-Identifier: BSD-3-Clause
// plot.cpp - finding an interpreter that can draw, and running the script with it.
#include "report/plot.h"

#include <unistd.h>

#include <stdexcept>

#include "exit_status.h"
#include "harness/companion.h"

namespace heddle::bench {
namespace {

using clock = std::chrono::steady_clock;

constexpr std::chrono::minutes patience{10};

bool can_draw(const std::string& python) {
  child probe({.program = python, .arguments = {"-c", "import matplotlib"}});
  return probe.wait_until(clock::now() + patience) && probe.exit_status() == 0;
}

/// PATH may begin with a Python that has no packages; Debian's own is where they are installed to.
std::vector<std::string> all_pythons() {
  return {find_program("python3"), "/usr/bin/python3"};
}

std::string join(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ",") + word;
  return text;
}

}  // namespace

std::string find_python(const std::vector<std::string>& candidates) {
  bool any = false;
  for (const std::string& python : candidates) {
    if (python.empty() || access(python.c_str(), X_OK) != 0) continue;
    if (can_draw(python)) return python;
    any = true;
  }
  throw std::runtime_error(any ? "drawing needs matplotlib for Python; on Debian: "
                                 "apt install python3-matplotlib"
                               : "drawing needs python3, which is not in PATH; on Debian: "
                                 "apt install python3-matplotlib");
}

command plot_command(const std::string& python, const plot_options& o) {
  const std::string& out = o.out.empty() ? o.folder : o.out;
  command c{.program = python, .arguments = {"-B", companion_file("plot.py").string()}};
  c.arguments.insert(c.arguments.end(),
                     {"--out=" + out, "--format=" + join(o.formats), "--", o.folder});
  c.show_output = true;
  return c;
}

int plot(const plot_options& o) {
  const std::string script = companion_file("plot.py").string();
  if (access(script.c_str(), R_OK) != 0) {
    throw std::runtime_error("the script '" + script + "' is missing: install heddle again");
  }
  child drawing(plot_command(find_python(all_pythons()), o));
  if (!drawing.wait_until(clock::now() + patience)) {
    throw std::runtime_error("drawing took longer than 10 minutes and was ended");
  }
  return drawing.exit_status() == 0 ? tools::success : tools::failed;
}

}  // namespace heddle::bench
