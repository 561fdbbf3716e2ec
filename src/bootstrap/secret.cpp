// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/secret.h"

#include <sodium.h>

#include "base/error.h"

namespace heddle::bootstrap {

secret_bytes random_secret() {
  if (sodium_init() < 0) fail("make a job secret: libsodium finds no source of randomness");
  secret_bytes secret;
  randombytes_buf(secret.data(), secret.size());
  return secret;
}

}  // namespace heddle::bootstrap
