#include "info/world_part.h"

#include <heddle/info.h>
#include <heddle/world.h>

namespace heddle::tools {

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
