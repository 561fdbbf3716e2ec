#include "info/world_part.h"

#include <heddle/world.h>

namespace heddle::tools {

world_part ask_world() {
  world here;
  world_part found{here.rank(), here.size(), here.describe(), {}};
  for (int peer = 0; peer < here.size(); ++peer)
    found.routes.push_back({peer, here.host(peer), here.route(peer)});
  here.barrier();  // nobody leaves while others still find their routes
  return found;
}

}  // namespace heddle::tools
