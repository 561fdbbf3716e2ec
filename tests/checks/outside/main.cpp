// main.cpp - a project that knows Heddle only as installed.
#include <heddle/heddle.h>

#include <cstdio>

int main() {
  heddle::world world;
  std::printf("rank %d of %d\n", world.rank(), world.size());
  return world.size() == 1 ? 0 : 1;
}
