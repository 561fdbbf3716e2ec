// peer_line.cpp - rounds of peer programs as JSON and back.
#include "bench/peer_line.h"

#include <nlohmann/json.hpp>
#include <sstream>
#include <stdexcept>

namespace heddle::bench {
namespace {

using json = nlohmann::ordered_json;

constexpr const char* beginning = R"({"peer_round":)";

/// Calls `visit(name, member)` for every time of a side.
template <class Times, class F>
void each_time(Times& t, F&& visit) {
  visit("post", t.post);
  visit("compute", t.compute);
  visit("wait", t.wait);
  visit("total", t.total);
}

json to_object(const side_times& t) {
  json object;
  each_time(t, [&object](const char* name, double seconds) { object[name] = seconds; });
  return object;
}

side_times times_from(const json& object) {
  side_times t;
  each_time(t, [&object](const char* name, double& seconds) { object.at(name).get_to(seconds); });
  if (!(t.total > 0)) throw std::runtime_error("its total is not positive");
  return t;
}

side_round side_from(const json& object) {
  return {times_from(object.at("alone")), times_from(object.at("together"))};
}

peer_line line_from(const json& round) {
  peer_line line;
  if (round.contains("seconds_per_op")) {
    line.seconds_per_op = round.at("seconds_per_op").get<double>();
    if (!(*line.seconds_per_op > 0)) throw std::runtime_error("its time is not positive");
  } else {
    line.sides = {side_from(round.at("sender")), side_from(round.at("receiver"))};
  }
  return line;
}

}  // namespace

std::string to_line(const peer_line& round) {
  json figures;
  if (round.seconds_per_op) figures["seconds_per_op"] = *round.seconds_per_op;
  if (round.sides) {
    const auto side = [](const side_round& r) {
      return json{{"alone", to_object(r.alone)}, {"together", to_object(r.together)}};
    };
    figures["sender"] = side(round.sides->front());
    figures["receiver"] = side(round.sides->back());
  }
  return json{{"peer_round", figures}}.dump();
}

std::vector<peer_line> parse_peer_lines(const std::string& output) {
  std::vector<peer_line> rounds;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    if (!line.starts_with(beginning)) continue;
    try {
      rounds.push_back(line_from(json::parse(line).at("peer_round")));
    } catch (const std::exception& why) {
      throw std::runtime_error("a peer program printed something unexpected: " + line + ": " +
                               why.what());
    }
  }
  return rounds;
}

}  // namespace heddle::bench
