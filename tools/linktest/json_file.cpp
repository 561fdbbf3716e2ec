// json_file.cpp - builds the JSON document.
#include "linktest/json_file.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace heddle::linktest {
namespace {

using json = nlohmann::ordered_json;

json number(double value) {
  return std::isnan(value) ? json(nullptr) : json(value);
}

json options_of(const options& o) {
  return {{"backend", o.backend},         {"mode", name_of(o.mode)},
          {"kernel", name_of(o.kernel)},  {"sizes", o.sizes},
          {"messages", o.messages},       {"warmup", o.warmup},
          {"repetitions", o.repetitions}, {"seed", o.seed},
          {"shuffle", o.shuffle},         {"timeout_s", o.timeout_s}};
}

json spread_as_json(const spread& s) {
  return {{"min", number(s.min)}, {"median", number(s.median)}, {"max", number(s.max)}};
}

template <class Value, class Convert>
json square(const std::vector<Value>& values, int ranks, Convert convert) {
  json rows = json::array();
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % static_cast<std::size_t>(ranks) == 0) rows.push_back(json::array());
    rows.back().push_back(convert(values[i]));
  }
  return rows;
}

json slowest_of(const run_facts& facts, const results& all, std::size_t size_index) {
  json out = json::array();
  for (const slow_pair& p : all.slowest(size_index, facts.chosen.slowest)) {
    out.push_back({{"initiator", p.initiator},
                   {"peer", p.peer},
                   {"initiator_host", facts.hosts[static_cast<std::size_t>(p.initiator)]},
                   {"peer_host", facts.hosts[static_cast<std::size_t>(p.peer)]},
                   {"time_s", p.time_s},
                   {"bandwidth", number(p.bandwidth)},
                   {"times_median", p.times_median}});
  }
  return out;
}

json size_of(const run_facts& facts, const results& all, std::size_t size_index) {
  json out{{"bytes", all.sizes()[size_index]}};
  out["summary"]["time"] = spread_as_json(all.summary(size_index, metric::time_median));
  out["summary"]["bandwidth"] = spread_as_json(all.summary(size_index, metric::bandwidth));
  out["slowest"] = slowest_of(facts, all, size_index);
  for (const metric m : all_metrics)
    out["matrices"][std::string(name_of(m))] =
        square(all.matrix(size_index, m), all.ranks(), number);
  out["matrices"]["state"] = square(all.states(size_index), all.ranks(), [](std::uint8_t s) {
    return json(name_of(static_cast<pair_state>(s)));
  });
  return out;
}

json metrics_as_json() {
  json out;
  for (const metric m : all_metrics)
    out[std::string(name_of(m))] = {{"unit", unit_of(m)}, {"definition", definition_of(m)}};
  return out;
}

}  // namespace

std::string to_json(const run_facts& facts, const results& all) {
  json out{{"format", "heddle-linktest"},
           {"schema_version", json_schema_version},
           {"heddle_version", facts.version},
           {"started", facts.started},
           {"ended", facts.ended},
           {"elapsed_s", facts.elapsed_s},
           {"complete", verdict_of(all) == success},
           {"ranks", all.ranks()},
           {"hosts", facts.hosts},
           {"routes", facts.routes},
           {"options", options_of(facts.chosen)},
           {"metrics", metrics_as_json()}};
  out["sizes"] = json::array();
  for (std::size_t s = 0; s < all.sizes().size(); ++s)
    out["sizes"].push_back(size_of(facts, all, s));
  return out.dump(1) + '\n';
}

}  // namespace heddle::linktest
