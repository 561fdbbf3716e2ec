// SPDX-License-Identifier: BSD-3-Clause
// first_port.h - for tests: the first port of the first card, by the environment's settings.
#pragma once
#include "backends/verbs/card.h"
#include "backends/verbs/settings.h"
#include "base/settings.h"

namespace heddle::test {

struct first_port {
  transport::verbs::options chosen{read_settings()};
  transport::verbs::card_list all;
  transport::verbs::card opened{all.ports(chosen.devices)[0].device, 1, chosen};
};

}  // namespace heddle::test
