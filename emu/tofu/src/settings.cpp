// SPDX-License-Identifier: BSD-3-Clause
// settings.cpp - see settings.h.
#include "settings.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <span>

#include "host/knobs.h"
#include "host/words.h"

const char* const host::device_name = "softtofu";

namespace tofu {

namespace {

using host::no_limit;

// In the order of enum knob.
constexpr std::array<host::knob_row, knobs> table{{
    {"SHAPE", "1x1x1x2x3x2", nullptr, 0, 0, "nodes as XxYxZxAxBxC; A <= 2, B <= 3, C <= 2"},
    {"PPN", "1", nullptr, 1, 1024, "processes per node"},
    {"TOQ", "2048", nullptr, 2, 1u << 21, "slots of a TOQ, 32 bytes each; a power of two"},
    {"MRQ", "131072", nullptr, 2, 1u << 21, "entries of an MRQ; a power of two"},
    {"CQS", "9", nullptr, 1, 12, "CQs of a TNI that programs may have"},
    {"STAGS", "2048", nullptr, 1, 1u << 14, "automatic tags of a CQ; as many again read-only"},
    {"ATOMICS", "armw", "armw|cpu", 0, 0, "what an ARMW is atomic with: other ARMWs; the CPU too"},
    {"ARMW_SCOPE", "cq", "cq|tni|node", 0, 0, "ARMWs are atomic if they go through the same one"},
    {"HIDDEN", "on", "off|on", 0, 0, "local completions nobody asked for take an MRQ entry"},
    {"MODEL", "off", "off|cpu|virtual", 0, 0, "timing model: a post's real cost; virtual clocks"},
    {"MODE", "inline", "inline|lazy|engine|chaos", 0, 0, "when commands are executed"},
    {"SEED", "1", nullptr, 0, no_limit, "of chaos"},
    {"BATCH", "4", nullptr, 1, 1u << 20, "commands executed per call in mode lazy"},
    {"NODE", "any", nullptr, 0, no_limit, "this process's node; any: the first free place"},
    {"PAGE", "4096", nullptr, 4096, 1u << 21,
     "bytes; registered memory is rounded out to it (65536 on Fugaku, whose own pages are as "
     "large)"},
    {"DEREG", "strict", "strict|counted", 0, 0,
     "equal registrations go with the first or the last"},
    {"SIZE_ERRORS", "call", "call|tcq", 0, 0, "where a length of 0 or above the maximum shows"},
    {"GET_ERRORS", "tcq", "tcq|mrq", 0, 0, "where a get's bad local address shows"},
    {"STRIDE_NOTICES", "block", "block|once", 0, 0, "notices of a strided command"},
    {"STRICT", "on", "off|on", 0, 0,
     "STADDs of different CQs differ, so that mixing them up shows"},
    {"CREATE_US", "0", nullptr, 0, 10'000'000, "microseconds it takes to create an EXCLUSIVE VCQ"},
    {"POST_NS", "230", nullptr, 1, 1'000'000, "timing models: what a posting call takes"},
    {"LATENCY_NS", "750", nullptr, 0, 1'000'000, "virtual clocks: a put's way over one hop"},
}};

constexpr const char* prefix = "SOFTTOFU_";

/// Six numbers, one per byte.
std::optional<std::uint64_t> parse_shape(const char* text) {
  constexpr std::array<unsigned long, 6> most{32, 32, 32, 2, 3, 2};
  std::uint64_t shape = 0;
  for (unsigned i = 0; i < 6; ++i) {
    char* end = nullptr;
    const unsigned long length = std::strtoul(text, &end, 10);
    if (end == text || length < 1 || length > most[i]) return std::nullopt;
    if (*end != (i < 5 ? 'x' : '\0')) return std::nullopt;
    shape |= std::uint64_t{length} << (8 * i);
    text = end + 1;
  }
  return shape;
}

bool must_be_power_of_two(knob k) {
  return k == knob::toq || k == knob::mrq || k == knob::page;
}

std::optional<std::uint64_t> parse(knob k, const char* text) {
  const host::knob_row& r = table[static_cast<std::size_t>(k)];
  if (k == knob::shape) return parse_shape(text);
  if (k == knob::node && std::strcmp(text, "any") == 0) return any_node;
  const auto value = host::parse_knob(r, text);
  if (value && must_be_power_of_two(k) && (*value & (*value - 1)) != 0) return std::nullopt;
  return value;
}

}  // namespace

bool read_settings(asked_settings& into) {
  for (std::size_t i = 0; i < knobs; ++i) {
    const host::knob_row& r = table[i];
    const char* const text = std::getenv((std::string(prefix) + r.name).c_str());
    const auto value = parse(static_cast<knob>(i), text == nullptr ? r.preset : text);
    if (!value) {
      host::say("%s%s=%s makes no sense: %s", prefix, r.name, text, r.choices ? r.choices : r.help);
      return false;
    }
    into.now.values[i] = *value;
    into.by_user[i] = text != nullptr;
  }
  return true;
}

bool adopt(asked_settings& mine, const settings& machines) {
  return host::adopt(std::span(table).first(machine_knobs), prefix, mine.now.values, mine.by_user,
                     machines.values);
}

std::string job_name() {
  return host::job_name(prefix);
}

std::string help_text() {
  std::string text = "SOFTTOFU_JOB            default        name of the machine to join\n";
  for (const host::knob_row& r : table) {
    std::array<char, 200> line{};
    std::snprintf(line.data(), line.size(), "%s%-14s %-14s %s%s%s%s\n", prefix, r.name, r.preset,
                  r.help, r.choices ? " (" : "", r.choices ? r.choices : "", r.choices ? ")" : "");
    text += line.data();
  }
  return text;
}

}  // namespace tofu
