// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/results/text_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <heddle/status.h>

#include <cerrno>
#include <cstring>
#include <utility>

namespace heddle::linktest {

text_file::text_file(std::string path)
    : path_(std::move(path)),
      file_(::open(path_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0666)) {
  check(file_.get() < 0 ? errno : 0);
}

void text_file::add(std::string_view piece) {
  constexpr std::size_t enough = 65536;
  pending_ += piece;
  if (pending_.size() >= enough) flush();
}

void text_file::close() {
  flush();
  check(file_.close());
}

void text_file::flush() {
  check(write_all(file_.get(), pending_));
  pending_.clear();
}

void text_file::check(int problem) const {
  if (problem != 0) throw error(fmt::format("write {}: {}", path_, std::strerror(problem)));
}

}  // namespace heddle::linktest
