// ucx_main.cpp - heddle_peer_ucx: what Heddle measures, by UCX, with any number of threads.
#include "peers/ucx_party.h"

int main(int argc, char** argv) {
  using namespace heddle::peers;
  const task t = parse(argc, argv);
  return guarded("heddle_peer_ucx", [&] {
    const process_pair both;
    settle_in(t, both.rank());
    ucx_party self(both, t);
    measure(self, t);
  });
}
