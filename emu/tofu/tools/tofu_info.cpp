// SPDX-License-Identifier: BSD-3-Clause
// tofu_info - what the software TofuD device can be told, and which machine there is now.
#include <softtofu.h>

#include <cstdio>

int main() {
  softtofu_info();
  std::puts("");
  softtofu_help();
}
