// SPDX-License-Identifier: BSD-3-Clause
// settings.cpp - see settings.h.
#include "settings.h"

#include <cstdlib>
#include <span>

#include "host/knobs.h"
#include "host/words.h"

const char* const host::device_name = "softhca";

namespace hca {

namespace {

using host::no_limit;

// In the order of enum knob.
constexpr std::array<host::knob_row, knobs> table{{
    {"DEVICES", "1", nullptr, 1, 4, "devices of each node: softhca0 and up"},
    {"PORTS", "1", nullptr, 1, 2, "ports of each device"},
    {"LINK", "ib", "ib|roce", 0, 0, "ports are addressed by LIDs, or by GIDs alone"},
    {"MODE", "inline", "inline|engine|chaos", 0, 0, "when work requests are executed"},
    {"SEED", "1", nullptr, 0, no_limit, "of chaos"},
    {"NODE", "0", nullptr, 0, 63, "this process's node"},
    {"THREAD_DOMAINS", "512", nullptr, 0, no_limit, "thread domains that a process may have"},
    {"CQES", "0", nullptr, 0, no_limit,
     "completions a CQ holds at most, whatever it says; 0: those"},
    {"LOCKED", "0", nullptr, 0, no_limit, "bytes that a process may register; 0: no limit"},
    {"ODP", "off", "off|on", 0, 0,
     "memory can be registered on demand, which LOCKED does not count"},
    {"TELL", "off", "off|on|counts", 0, 0,
     "what stderr hears: errors, or counts as devices are closed"},
}};

constexpr const char* prefix = "SOFTHCA_";

}  // namespace

bool read_settings(asked_settings& into) {
  for (std::size_t i = 0; i < knobs; ++i) {
    const host::knob_row& r = table[i];
    const char* const text = std::getenv((std::string(prefix) + r.name).c_str());
    const auto value = host::parse_knob(r, text == nullptr ? r.preset : text);
    if (!value) {
      host::say("%s%s=%s makes no sense: %s (%s)", prefix, r.name, text, r.help,
                r.choices != nullptr ? r.choices : "a number within the device's limits");
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

}  // namespace hca
