// SPDX-License-Identifier: BSD-3-Clause
#include "test.h"

#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <utility>

namespace conformance {
namespace {

std::string printed(const char* format, va_list values) {
  char text[600];
  std::vsnprintf(text, sizeof text, format, values);
  return text;
}

std::unique_ptr<peer> start_helper(int rank) {
  auto child = std::make_unique<process>(std::vector<std::string>{"--role=helper"}, rank);
  auto there = way_over_socket(child->ours());
  return std::make_unique<peer>(std::move(there), std::move(child));
}

}  // namespace

void test::expect(bool holds, const char* format, ...) {
  if (holds) return;
  va_list values;
  va_start(values, format);
  const std::string text = printed(format, values);
  va_end(values);
  broke(text);
}

void test::require(bool holds, const char* format, ...) {
  if (holds) return;
  va_list values;
  va_start(values, format);
  const std::string text = printed(format, values);
  va_end(values);
  broke(text);
  throw test_over();
}

void test::presume(bool holds, const char* format, ...) {
  if (holds) return;
  va_list values;
  va_start(values, format);
  const std::string text = printed(format, values);
  va_end(values);
  differ(text);
}

void test::note(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const std::string text = printed(format, values);
  va_end(values);
  say(text);
}

void test::skip(const char* format, ...) {
  va_list values;
  va_start(values, format);
  const std::string text = printed(format, values);
  va_end(values);
  say(text);
  verdict_ = verdict::skipped;
  throw test_over();
}

void test::refused(int code, int presumed, const char* what) {
  expect(code != UTOFU_SUCCESS, "%s was accepted", what);
  presume(code == UTOFU_SUCCESS || code == presumed, "%s: %s, not %s", what, name_of(code).c_str(),
          name_of(presumed).c_str());
}

void test::say(const std::string& what) {
  if (!details_.empty()) details_ += "; ";
  details_ += what;
}

void test::broke(const std::string& what) {
  if (kind_ == kind::reports) return differ(what);
  verdict_ = verdict::failed;
  say(what);
}

void test::differ(const std::string& what) {
  if (verdict_ == verdict::ok) verdict_ = verdict::differs;
  say(what);
}

int test::others() const {
  if (how_.alone) return 0;
  return how_.meet.empty() ? 12 : how_.size - 1;
}

bool test::is_chaos() const {
  const char* mode = std::getenv("SOFTTOFU_MODE");
  return mode != nullptr && std::string(mode) == "chaos";
}

utofu_tni_id_t test::tni() {
  const tni_list tnis = all_tnis();
  require(tnis.count > 0, "there is no TNI");
  return tnis.ids[0];
}

peer& test::other(int number) {
  if (others_.size() < std::size_t(number)) others_.resize(std::size_t(number));
  std::unique_ptr<peer>& one = others_[std::size_t(number) - 1];
  if (one != nullptr) return *one;
  if (how_.alone) {
    one = std::make_unique<peer>();
  } else if (how_.meet.empty()) {
    one = start_helper(number);
  } else {
    one = std::make_unique<peer>(ranks_[std::size_t(number)], nullptr);
  }
  return *one;
}

void test::dismiss() {
  for (const std::unique_ptr<peer>& one : others_) {
    const std::string trouble = one == nullptr ? "" : one->leave();
    if (!trouble.empty()) broke("a helper, told to leave: " + trouble);
  }
}

peer& test::victim() {
  if (victim_ == nullptr) victim_ = start_helper(1);
  return *victim_;
}

}  // namespace conformance
