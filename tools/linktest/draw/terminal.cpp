// SPDX-License-Identifier: BSD-3-Clause
// terminal.cpp - asks the terminal and the environment.
#include "linktest/draw/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace heddle::linktest {
namespace {

std::string_view value_of(const environment& get, const char* name) {
  const char* text = get(name);
  return text == nullptr ? std::string_view{} : std::string_view(text);
}

}  // namespace

color_depth choose_colors(color_choice wish, bool on_terminal, const environment& get) {
  const bool unwanted =
      !on_terminal || !value_of(get, "NO_COLOR").empty() || value_of(get, "TERM") == "dumb";
  if (wish == color_choice::never || (wish == color_choice::automatic && unwanted))
    return color_depth::none;
  const std::string_view promise = value_of(get, "COLORTERM");
  return promise == "truecolor" || promise == "24bit" ? color_depth::truecolor
                                                      : color_depth::indexed;
}

int columns_of(int descriptor, const environment& get) {
  constexpr int least = 40, usual = 80;
  winsize size{};
  if (ioctl(descriptor, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    return std::max<int>(size.ws_col, least);
  const int told = std::atoi(std::string(value_of(get, "COLUMNS")).c_str());
  return told > 0 ? std::max(told, least) : usual;
}

options resolve_terminal(options wish) {
  const environment get = [](const char* name) { return std::getenv(name); };
  if (wish.color == color_choice::automatic)
    wish.color = choose_colors(wish.color, isatty(STDOUT_FILENO) == 1, get) == color_depth::none
                     ? color_choice::never
                     : color_choice::always;
  if (wish.width == 0) wish.width = columns_of(STDOUT_FILENO, get);
  if (wish.quiet) wish.progress = progress_choice::none;
  if (wish.progress == progress_choice::automatic)
    wish.progress = isatty(STDERR_FILENO) == 1 ? progress_choice::bar : progress_choice::lines;
  return wish;
}

}  // namespace heddle::linktest
