// utofu_main.cpp - heddle_peer_utofu: what Heddle measures over its utofu backend, by uTofu itself.
#include "peers/utofu_party.h"

int main(int argc, char** argv) {
  using namespace heddle::peers;
  const task t = parse(argc, argv);
  return guarded("heddle_peer_utofu", [&] {
    const process_pair both;  // before the first call of uTofu, which does not survive a fork
    settle_in(t, both.rank());
    utofu_party self(both, t);
    measure(self, t);
  });
}
