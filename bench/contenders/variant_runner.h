// SPDX-License-Identifier: BSD-3-Clause
// variant_runner.h - Heddle used or set in another way as its own rival: a job of its own for each
// round.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "contenders/rival_runner.h"
#include "harness/child.h"
#include "report/record.h"

namespace heddle::bench {

/// Whether it is one: lock, uncached, unloaded.
[[nodiscard]] bool is_variant(rival who) noexcept;

/// This program, measuring one round of the task as `who` and writing its records to a file in
/// `scratch`.
[[nodiscard]] command variant_command(rival who, const rival_task& t, const std::string& scratch);

/// The figures of metrics_of() that such records hold. Throws rival_failure when they do not.
[[nodiscard]] std::vector<double> figures_in(const std::vector<record>& records, const spec& s);

/// `who` is a variant.
[[nodiscard]] std::unique_ptr<rival_runner> make_variant_runner(rival who, const rival_task& t);

}  // namespace heddle::bench
