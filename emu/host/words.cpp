// SPDX-License-Identifier: BSD-3-Clause
// words.cpp - see words.h.
#include "words.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdarg>
#include <cstdio>

namespace host {

namespace {

thread_local std::array<char, 120> words{};  ///< as long as utofu_get_last_error() gives

}  // namespace

void say(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::array<char, 400> line{};
  std::vsnprintf(line.data(), line.size(), format, arguments);
  va_end(arguments);
  std::copy_n(line.begin(), words.size() - 1, words.begin());
  std::fprintf(stderr, "%s[%d]: %s\n", device_name, static_cast<int>(getpid()), line.data());
}

void remember(const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(words.data(), words.size(), format, arguments);
  va_end(arguments);
}

const char* last_words() noexcept {
  return words.data();
}

}  // namespace host
