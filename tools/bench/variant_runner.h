// variant_runner.h - Heddle used or set in another way as its own rival: a job of its own for each
// round.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "bench/child.h"
#include "bench/record.h"
#include "bench/rival_runner.h"

namespace heddle::bench {

/// Whether it is one: lock, uncached.
[[nodiscard]] bool is_variant(rival who) noexcept;

/// This program, measuring one round of the task as `who` and writing its records to a file in
/// `scratch`.
[[nodiscard]] command variant_command(rival who, const rival_task& t, const std::string& scratch);

/// The seconds per operation that such records hold. Throws rival_failure when they do not.
[[nodiscard]] double seconds_in(const std::vector<record>& records, const rival_task& t);

/// `who` is a variant.
[[nodiscard]] std::unique_ptr<rival_runner> make_variant_runner(rival who, const rival_task& t);

}  // namespace heddle::bench
