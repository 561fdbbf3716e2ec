// SPDX-License-Identifier: BSD-3-Clause
// tofu_conformance - does this uTofu library behave as the published facts say?
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <set>

#include "runner.h"

namespace conformance {
namespace {

constexpr const char* usage =
    "usage: tofu_conformance [options]\n"
    "  --list            name the tests and stop\n"
    "  --only 21,22,30   run these\n"
    "  --harmless        leave out what may end processes or use up queues\n"
    "  --alone           no other process: the other end of each test is in this one\n"
    "  --strict          what differs from the published facts counts as failed\n"
    "  --seconds S       limit of each test (60)\n"
    "  --watch S         as if that were S, for tests that watch for what is rare\n"
    "  --json FILE       write the results to FILE as well\n"
    "  --meet DIR        this is one rank of a job; they meet in DIR, which must be empty\n"
    "  --rank R --size N of that job, unless the launcher says so in the environment\n"
    "exit status: 0 passed, 1 a test failed, 2 wrong use\n";

struct request_of_user {
  settings how;
  std::set<int> only;
  std::string json, role;
  bool list = false, wrong = false;
  std::vector<std::string> handed_on;  ///< options for the processes that run one test each
};

int from_environment(std::initializer_list<const char*> names, int otherwise) {
  for (const char* name : names) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  return otherwise;
}

std::set<int> numbers_in(const std::string& list) {
  std::set<int> numbers;
  for (std::size_t at = 0; at < list.size();) {
    numbers.insert(std::atoi(list.c_str() + at));
    const std::size_t comma = list.find(',', at);
    at = comma == std::string::npos ? list.size() : comma + 1;
  }
  return numbers;
}

/// An option without a value. False: not one of them.
bool take_switch(const std::string& option, request_of_user& all) {
  if (option == "--list") return all.list = true;
  if (option == "--harmless")
    all.how.harmless = true;
  else if (option == "--alone")
    all.how.alone = true;
  else if (option == "--strict")
    all.how.strict = true;
  else
    return false;
  all.handed_on.push_back(option);
  return true;
}

/// An option with a value. False: not one of them.
bool take_value(const std::string& option, const std::string& value, request_of_user& all) {
  if (option == "--only")
    all.only = numbers_in(value);
  else if (option == "--json")
    all.json = value;
  else if (option == "--meet")
    all.how.meet = value;
  else if (option == "--rank")
    all.how.rank = std::atoi(value.c_str());
  else if (option == "--size")
    all.how.size = std::atoi(value.c_str());
  else if (option == "--seconds" || option == "--watch") {
    (option == "--watch" ? all.how.watch : all.how.seconds) = std::atof(value.c_str());
    all.handed_on.insert(all.handed_on.end(), {option, value});
  } else
    return false;
  return true;
}

request_of_user parse(int count, char** arguments) {
  request_of_user all;
  all.how.rank = from_environment({"PMIX_RANK", "PMI_RANK", "OMPI_COMM_WORLD_RANK"}, 0);
  all.how.size = from_environment({"PMI_SIZE", "OMPI_COMM_WORLD_SIZE"}, 1);
  for (int i = 1; i < count && !all.wrong; ++i) {
    const std::string option = arguments[i];
    if (option.rfind("--role=", 0) == 0)
      all.role = option.substr(7);
    else if (take_switch(option, all))
      continue;
    else if (i + 1 < count && take_value(option, arguments[i + 1], all))
      ++i;
    else
      all.wrong = true;
  }
  return all;
}

std::vector<const test_case*> chosen_tests(const std::set<int>& only) {
  std::vector<const test_case*> chosen;
  for (const test_case& one : all_tests()) {
    if (only.empty() || only.count(one.number) != 0) chosen.push_back(&one);
  }
  return chosen;
}

int list() {
  for (const test_case& one : all_tests()) {
    std::printf("%2d %-7s %s%s\n", one.number, one.of == kind::must ? "must" : "reports", one.name,
                one.what.danger ? " (not with --harmless)" : "");
  }
  return 0;
}

int serve() {
  die_with_parent();
  const std::unique_ptr<way> to_master = way_over_socket(process::its_end);
  servant().serve(*to_master, 600);
  return 0;
}

int conduct(const request_of_user& all) {
  const std::vector<const test_case*> chosen = chosen_tests(all.only);
  const std::vector<outcome> outcomes = all.how.meet.empty()
                                            ? run_apart(chosen, all.how, all.handed_on)
                                            : run_among_ranks(chosen, all.how);
  print_summary(outcomes);
  if (!all.json.empty() && !write_json(all.json, outcomes)) {
    std::fprintf(stderr, "tofu_conformance: cannot write %s\n", all.json.c_str());
    return 2;
  }
  return status_of(outcomes, all.how.strict);
}

int run(int count, char** arguments) {
  const request_of_user all = parse(count, arguments);
  if (all.wrong) return std::fputs(usage, stderr), 2;
  if (all.list) return list();
  if (all.role == "helper") return serve();
  if (all.role == "test") {
    die_with_parent();
    return run_for_parent(*chosen_tests(all.only).at(0), all.how);
  }
  return !all.how.meet.empty() && all.how.rank > 0 ? serve_rank_0(all.how) : conduct(all);
}

}  // namespace
}  // namespace conformance

int main(int count, char** arguments) {
  return conformance::run(count, arguments);
}
