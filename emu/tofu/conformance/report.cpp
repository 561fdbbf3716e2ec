// SPDX-License-Identifier: BSD-3-Clause
#include "report.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

namespace conformance {
namespace {

const char* word_for(verdict result) {
  switch (result) {
    case verdict::ok:
      return "ok";
    case verdict::failed:
      return "FAILED";
    case verdict::differs:
      return "differs";
    case verdict::skipped:
      return "skipped";
  }
  return "?";
}

std::vector<int> numbers_of(const std::vector<outcome>& all, verdict result) {
  std::vector<int> numbers;
  for (const outcome& one : all) {
    if (one.result == result) numbers.push_back(one.of->number);
  }
  return numbers;
}

std::string quoted(const std::string& text) {
  std::string all = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') all += '\\';
    all += static_cast<unsigned char>(c) < 32 ? ' ' : c;
  }
  return all + "\"";
}

std::string json_of(const outcome& one) {
  char head[64], tail[64];
  std::snprintf(head, sizeof head, "    {\"number\": %d, ", one.of->number);
  std::snprintf(tail, sizeof tail, "\"seconds\": %.3f, ", one.seconds);
  return std::string(head) + "\"name\": " + quoted(one.of->name) +
         ", \"kind\": " + (one.of->of == kind::must ? "\"must\"" : "\"reports\"") +
         ", \"result\": \"" + word_for(one.result) + "\", " + tail +
         "\"details\": " + quoted(one.details) + "}";
}

/// What of the environment decides how the device behaves.
std::string json_of_environment() {
  std::string all;
  for (const char* name : {"SOFTTOFU_MODE", "SOFTTOFU_SEED", "SOFTTOFU_TOQ", "SOFTTOFU_MRQ",
                           "SOFTTOFU_STAGS", "PJM_JOBID"}) {
    const char* value = std::getenv(name);
    if (value == nullptr) continue;
    all += (all.empty() ? "" : ", ") + quoted(name) + ": " + quoted(value);
  }
  return "{" + all + "}";
}

}  // namespace

void print(const outcome& one) {
  std::printf("%-7s %2d %s", word_for(one.result), one.of->number, one.of->name);
  if (!one.details.empty()) std::printf(": %s", one.details.c_str());
  if (one.seconds >= 1) std::printf(" (%.1f s)", one.seconds);
  std::printf("\n");
  std::fflush(stdout);
}

void print_summary(const std::vector<outcome>& all) {
  const char* between = "";
  for (const verdict result : {verdict::ok, verdict::failed, verdict::differs, verdict::skipped}) {
    const std::vector<int> numbers = numbers_of(all, result);
    std::printf("%s%zu %s", between, numbers.size(), word_for(result));
    between = ", ";
    if (result == verdict::ok || numbers.empty()) continue;
    std::printf(" (");
    for (std::size_t i = 0; i < numbers.size(); ++i) std::printf(i ? ", %d" : "%d", numbers[i]);
    std::printf(")");
  }
  std::printf("\n");
}

int status_of(const std::vector<outcome>& all, bool strict) {
  const bool failed = !numbers_of(all, verdict::failed).empty();
  return failed || (strict && !numbers_of(all, verdict::differs).empty()) ? 1 : 0;
}

bool write_json(const std::string& path, const std::vector<outcome>& all) {
  std::FILE* file = std::fopen(path.c_str(), "w");
  if (file == nullptr) return false;
  int tofu[2] = {0, 0}, utofu[2] = {0, 0};
  utofu_query_tofu_version(&tofu[0], &tofu[1]);
  utofu_query_utofu_version(&utofu[0], &utofu[1]);
  char host[256] = "";
  gethostname(host, sizeof host - 1);
  std::fprintf(file, "{\n  \"tofu\": \"%d.%d\", \"utofu\": \"%d.%d\", \"host\": %s,\n", tofu[0],
               tofu[1], utofu[0], utofu[1], quoted(host).c_str());
  std::fprintf(file, "  \"environment\": %s,\n  \"tests\": [\n", json_of_environment().c_str());
  for (std::size_t i = 0; i < all.size(); ++i) {
    std::fprintf(file, "%s%s\n", json_of(all[i]).c_str(), i + 1 < all.size() ? "," : "");
  }
  std::fprintf(file, "  ]\n}\n");
  return std::fclose(file) == 0;
}

}  // namespace conformance
