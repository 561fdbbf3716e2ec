// SPDX-License-Identifier: BSD-3-Clause
// json_document.h - the results as one JSON document.
#pragma once
#include "linktest/results/run_facts.h"
#include "linktest/results/text_file.h"

namespace heddle::linktest {

/// The whole document, in the memory of a matrix' row. Values that were not measured are null;
/// seconds and bytes per second.
void write_json(const text_sink& out, const run_facts& facts, const results& all);
/// The same without matrices: as long for any number of ranks, but for the names of their hosts.
void write_json_summary(const text_sink& out, const run_facts& facts, const results& all);

}  // namespace heddle::linktest
