// SPDX-License-Identifier: BSD-3-Clause
// verdict_json.cpp - names of a diagnosis's values in JSON.
#include "linktest/diagnose/verdict_json.h"

#include <fmt/format.h>
#include <heddle/status.h>

#include <nlohmann/json.hpp>

namespace heddle::linktest {
namespace {

using json = nlohmann::ordered_json;

template <class Number>
json known(Number value) {
  return value < 0 ? json(nullptr) : json(value);
}

culprit culprit_from(const std::string& word) {
  for (const culprit c : {culprit::node_tx, culprit::node_rx, culprit::node, culprit::rail,
                          culprit::link, culprit::contention})
    if (name_of(c) == word) return c;
  throw error(fmt::format("it says '{}', which is no verdict", word));
}

template <class Number>
Number known_from(const json& value) {
  return value.is_null() ? Number{-1} : value.get<Number>();
}

verdict verdict_from(const json& in) {
  verdict v;
  v.what = culprit_from(in.at("what").get<std::string>());
  v.node = known_from<int>(in.at("node"));
  v.peer = known_from<int>(in.at("peer"));
  v.rail = known_from<int>(in.at("rail"));
  if (!in.at("cable").is_null()) in.at("cable").get_to(v.cable);
  v.step = known_from<std::int64_t>(in.at("step"));
  in.at("factor").get_to(v.factor);
  in.at("confidence").get_to(v.confidence);
  in.at("retested").get_to(v.retested);
  in.at("evidence").get_to(v.evidence);
  in.at("or_else").get_to(v.or_else);
  return v;
}

}  // namespace

diagnosis diagnosis_from(const json& in) {
  diagnosis out;
  for (const json& v : in.at("verdicts")) out.verdicts.push_back(verdict_from(v));
  const json& seen = in.at("coverage");
  seen.at("pairs").get_to(out.seen.pairs);
  seen.at("possible_pairs").get_to(out.seen.possible_pairs);
  seen.at("nodes").get_to(out.seen.nodes);
  seen.at("all_nodes").get_to(out.seen.all_nodes);
  seen.at("links").get_to(out.seen.links);
  seen.at("all_links").get_to(out.seen.all_links);
  seen.at("retests").get_to(out.seen.retests);
  seen.at("more_contention").get_to(out.seen.more_contention);
  seen.at("not_retested").get_to(out.seen.not_retested);
  return out;
}

json as_json(const verdict& v) {
  return {{"what", name_of(v.what)},
          {"node", known(v.node)},
          {"peer", known(v.peer)},
          {"rail", known(v.rail)},
          {"cable", v.cable.empty() ? json(nullptr) : json(v.cable)},
          {"step", known(v.step)},
          {"factor", v.factor},
          {"confidence", v.confidence},
          {"retested", v.retested},
          {"evidence", v.evidence},
          {"or_else", v.or_else}};
}

json as_json(const diagnosis& d) {
  json verdicts = json::array();
  for (const verdict& v : d.verdicts) verdicts.push_back(as_json(v));
  return {{"verdicts", std::move(verdicts)},
          {"coverage",
           {{"pairs", d.seen.pairs},
            {"possible_pairs", d.seen.possible_pairs},
            {"nodes", d.seen.nodes},
            {"all_nodes", d.seen.all_nodes},
            {"links", d.seen.links},
            {"all_links", d.seen.all_links},
            {"retests", d.seen.retests},
            {"more_contention", d.seen.more_contention},
            {"not_retested", d.seen.not_retested}}}};
}

}  // namespace heddle::linktest
