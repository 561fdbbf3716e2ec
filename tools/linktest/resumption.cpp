// SPDX-License-Identifier: BSD-3-Clause
#include "linktest/resumption.h"

#include <heddle/heddle.h>

#include <cstdint>
#include <exception>
#include <span>
#include <string>

#include "linktest/rank_main.h"
#include "linktest/results/unfinished.h"

namespace heddle::linktest {

int resume_rank(const options& now) {
  world job;
  lane path(job);
  std::string text;
  std::exception_ptr refusal;
  try {
    if (job.rank() == 0) text = to_text(read_unfinished(now.resume));
  } catch (...) {
    refusal = std::current_exception();
  }
  std::uint64_t length = text.size();
  status told = broadcast(path, std::span(&length, 1), 0);
  text.resize(told == status::done ? length : 0);
  if (told == status::done) told = broadcast(path, std::span(text), 0);
  // Or rank 0 might be gone before the others have heard of it, and be lost to them.
  if (told == status::done && text.empty()) job.barrier();
  if (refusal) std::rethrow_exception(refusal);
  if (told != status::done) throw error("--resume: rank 0 is lost before it told the options");
  return text.empty() ? success : run_rank(gone_on_with(unfinished_from(text), now));
}

}  // namespace heddle::linktest
