// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/generate.h"

#include "base/error.h"
#include "fuzz/generate_job.h"
#include "fuzz/model.h"

namespace heddle::fuzz {
namespace {

weather draw_weather(dice& d) {
  const int kind = d.below(20);
  if (kind < 15) return weather::fair;
  if (kind < 17) return weather::stopped;
  return kind < 19 ? weather::deadly : weather::poor;
}

}  // namespace

std::vector<std::string> wires(devices there) {
  std::vector<std::string> all{"shm", "tcp", "shm+tcp"};
  if (there.utofu) all = {"shm", "tcp", "utofu", "shm+tcp", "shm+utofu", "utofu"};
  if (there.verbs) all.insert(all.end(), {"verbs", "shm+verbs", "verbs"});
  return all;
}

plan generate(std::uint64_t seed, const wishes& w, devices there) {
  dice d(seed);
  plan p;
  p.seed = seed;
  const weather drawn = draw_weather(d);
  const weather sky = w.sky.value_or(drawn);
  draw_job(p, d, w, there, sky);
  const int phases = d.between(1, 4);
  draw_areas(p, d, phases, sky == weather::deadly || sky == weather::poor);
  for (int phase = 0; phase < phases; ++phase) draw_phase(p, d, phase, sky);
  if (d.percent(50)) draw_end(p, d);
  if (const std::string why = why_not(p); !why.empty())
    fail("seed {}: the generator made a program that the model refuses: {}", seed, why);
  return p;
}

std::string wire_of(const plan& p) {
  return p.value_of("HEDDLE_BACKENDS", 0);
}

}  // namespace heddle::fuzz
