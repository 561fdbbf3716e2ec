// SPDX-License-Identifier: BSD-3-Clause
#include "info/ask_hosts.h"

#include <fmt/format.h>
#include <heddle/info.h>

#include <cstdlib>
#include <filesystem>

#include "exit_status.h"
#include "info/host_facts.h"
#include "json_text.h"
#include "run/host_options.h"
#include "run/launcher.h"
#include "standard_output.h"

namespace heddle::tools {
namespace {

using json = nlohmann::ordered_json;

/// One rank for each host, whatever room there is.
launch_options one_rank_each(const host_options& given) {
  launch_options job;
  take_hosts(given, {}, job);
  job.ranks = 0;
  for (host_ranks& host : job.hosts) host.ranks = {job.ranks++};
  return job;
}

/// Each rank's line, by rank; from what has come of them.
std::vector<host_report> reports_in(const std::string& text, const launch_options& job) {
  std::vector<host_report> hosts;
  for (const host_ranks& host : job.hosts) hosts.push_back({host.name, json::object()});
  for (std::size_t begin = 0, end = 0; (end = text.find('\n', begin)) != std::string::npos;
       begin = end + 1) {
    json told = json::parse(text.substr(begin, end - begin), nullptr, false);
    if (!told.is_object()) continue;
    const auto rank = told.value("rank", hosts.size());
    told.erase("rank");
    if (rank < hosts.size()) hosts[rank].told = std::move(told);
  }
  return hosts;
}

json as_json(const std::vector<host_report>& hosts) {
  json all = json::array();
  for (const host_report& host : hosts) {
    json one{{"name", host.name}};
    one.update(host.told);
    all.push_back(one);
  }
  return {{"version", version()}, {"hosts", all}};
}

}  // namespace

int ask_hosts(const host_options& given, bool as_data) {
  launch_options job = one_rank_each(given);
  job.program = given.heddle.empty() ? std::filesystem::read_symlink("/proc/self/exe").string()
                                     : given.heddle;
  job.arguments = {"info", facts_option};
  std::string told;
  job.take_output = [&told](std::string_view text) { told += text; };
  const int status = launch(job);
  if (status != success) return status;
  const auto hosts = reports_in(told, job);
  print(as_data ? json_text(as_json(hosts), 2) + '\n' : compare_hosts(hosts));
  return success;
}

void tell_facts() {
  json told = facts_of_this_host();
  const char* rank = std::getenv("HEDDLE_RANK");
  told["rank"] = rank != nullptr ? std::atoi(rank) : 0;
  print(json_text(told) + '\n');
}

}  // namespace heddle::tools
