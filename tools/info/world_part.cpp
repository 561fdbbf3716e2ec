#include "info/world_part.h"

#include <heddle/info.h>
#include <heddle/world.h>

#include <cstdlib>

namespace heddle::tools {

std::vector<std::pair<std::string, std::string>> try_backends() {
  setenv("HEDDLE_BOOT", "alone", 1);
  setenv("HEDDLE_LOG", "off", 1);  // what is wrong comes as an error
  std::vector<std::pair<std::string, std::string>> tried;
  for (const std::string& name : list_backends()) {
    setenv("HEDDLE_BACKENDS", name.c_str(), 1);
    try {
      const world alone;
      tried.emplace_back(name, "usable");
    } catch (const error& why) {
      tried.emplace_back(name, why.what());
    }
  }
  return tried;
}

world_part ask_world() {
  world here;
  world_part found{here.rank(), here.size(), here.describe(), {}, 0};
  for (int peer = 0; peer < here.size(); ++peer)
    found.routes.push_back({peer, here.host(peer), here.route(peer)});
  if (here.rank() == 0) found.wake_cost_ns = wake_cost_ns();  // while the others are quiet
  here.barrier();  // nobody leaves while others still find their routes
  return found;
}

}  // namespace heddle::tools
