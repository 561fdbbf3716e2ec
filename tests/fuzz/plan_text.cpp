// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/plan_text.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <sstream>

namespace heddle::fuzz {
namespace {

constexpr std::array verbs{
    "put",     "get",       "put_notify", "atomic",    "send",     "recv",      "probe",
    "cancel",  "call",      "flush",      "fence",     "poll",     "pause",     "reopen",
    "barrier", "broadcast", "reduce",     "allreduce", "gather",   "allgather", "alltoall",
    "mistake", "kill",      "stop",       "end_lane",  "end_area", "end_world", "use"};
constexpr std::array endings{"flag", "counter", "callback", "queue", "coroutine", "blocking"};
constexpr std::array forms{"plain",  "blocks",  "matched", "named",
                           "placed", "grouped", "posted",  "limited"};
constexpr std::array mistakes{
    "send_reserved_tag", "recv_reserved_tag", "probe_reserved_tag", "send_rank",
    "recv_rank",         "call_rank",         "call_header",        "call_handler",
    "notify_handler",    "put_bounds",        "get_bounds",         "atomic_bounds",
    "misaligned",        "no_address",        "denied_put",         "denied_get",
    "denied_atomic",     "cancel_nothing",    "withdrawn_put",      "withdrawn_get"};
constexpr std::array late_uses{"send", "recv",   "probe", "call",  "put",
                               "get",  "atomic", "poll",  "flush", "barrier"};
constexpr std::array atomic_ops{"add", "and", "or", "xor", "swap", "compare_swap", "min", "max"};
constexpr std::array reduce_ops{"sum", "min", "max", "prod", "and", "or", "xor"};
constexpr std::array kinds{"symmetric", "exposed", "allocated"};

[[noreturn]] void refuse(const std::string& line, std::string_view why) {
  throw error(fmt::format("a fuzzer's program: '{}': {}", line, why));
}

template <class Names>
int number_of(const Names& names, const std::string& text, const std::string& line) {
  for (std::size_t i = 0; i < names.size(); ++i)
    if (text == names[i]) return static_cast<int>(i);
  refuse(line, "'" + text + "' is no known word here");
}

std::uint64_t number(std::string_view text, const std::string& line) {
  const bool hex = text.starts_with("0x");
  if (hex) text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, code] =
      std::from_chars(text.data(), text.data() + text.size(), value, hex ? 16 : 10);
  if (code != std::errc{} || end != text.data() + text.size()) refuse(line, "not a number");
  return value;
}

int whole(const std::string& text, const std::string& line) {
  if (text == "all" || text == "any") return -1;
  return static_cast<int>(number(text, line));
}

// --- the fields of a step -----------------------------------------------------------------------

struct field {
  std::string_view name;
  int step::*small = nullptr;
  std::uint64_t step::*large = nullptr;
  bool hex = false;
};

constexpr std::array fields{
    field{"lane", &step::lane},
    field{"to_lane", &step::to_lane},
    field{"peer", &step::peer},
    field{"area", &step::area},
    field{"at", nullptr, &step::at},
    field{"bytes", nullptr, &step::bytes},
    field{"tag", nullptr, &step::tag, true},
    field{"mask", nullptr, &step::mask, true},
    field{"width", &step::width},
    field{"operand", nullptr, &step::operand, true},
    field{"compare", nullptr, &step::compare, true},
    field{"header", &step::header},
    field{"of", &step::of},
};

std::string print_op(const step& s) {
  const auto name = [&](const auto& names) {
    return fmt::format(" op={}", names.at(static_cast<std::size_t>(s.op)));
  };
  if (s.what == verb::atomic) return name(atomic_ops);
  if (s.what == verb::reduce || s.what == verb::allreduce) return name(reduce_ops);
  if (s.what == verb::mistake) return name(mistakes);
  if (s.what == verb::use) return name(late_uses);
  return "";
}

int read_op(const step& s, const std::string& text, const std::string& line) {
  if (s.what == verb::atomic) return number_of(atomic_ops, text, line);
  if (s.what == verb::mistake) return number_of(mistakes, text, line);
  if (s.what == verb::use) return number_of(late_uses, text, line);
  return number_of(reduce_ops, text, line);
}

std::string print_field(const field& f, const step& s) {
  const step usual;
  if (f.small != nullptr) {
    if (s.*f.small == usual.*f.small) return "";
    const bool any = s.*f.small == -1;
    return any ? fmt::format(" {}=any", f.name) : fmt::format(" {}={}", f.name, s.*f.small);
  }
  if (s.*f.large == usual.*f.large) return "";
  return f.hex ? fmt::format(" {}={:#x}", f.name, s.*f.large)
               : fmt::format(" {}={}", f.name, s.*f.large);
}

void read_field(step& s, const std::string& name, const std::string& text,
                const std::string& line) {
  if (name == "op") return void(s.op = read_op(s, text, line));
  if (name == "ends") return void(s.ends = static_cast<ending>(number_of(endings, text, line)));
  if (name == "as") return void(s.as = static_cast<form>(number_of(forms, text, line)));
  for (const field& f : fields) {
    if (name != f.name) continue;
    if (f.small != nullptr) return void(s.*f.small = whole(text, line));
    return void(s.*f.large = number(text, line));
  }
  refuse(line, "'" + name + "' is no field of a step");
}

/// "NAME=value" in two.
std::pair<std::string, std::string> halves(const std::string& word, const std::string& line) {
  const std::size_t at = word.find('=');
  if (at == std::string::npos) refuse(line, "expected NAME=value in place of '" + word + "'");
  return {word.substr(0, at), word.substr(at + 1)};
}

/// "17: 0.1 send lane=1 ...": id, rank and thread, what.
step read_step(std::istringstream& words, const std::string& first, int phase,
               const std::string& line) {
  step s;
  s.id = static_cast<int>(number(first.substr(0, first.size() - 1), line));
  s.phase = phase;
  std::string who, what, word;
  words >> who >> what;
  const std::size_t dot = who.find('.');
  if (dot == std::string::npos) refuse(line, "expected RANK.THREAD");
  s.rank = whole(who.substr(0, dot), line);
  s.thread = whole(who.substr(dot + 1), line);
  s.what = static_cast<verb>(number_of(verbs, what, line));
  while (words >> word) {
    const auto [name, text] = halves(word, line);
    read_field(s, name, text, line);
  }
  return s;
}

// --- everything else ----------------------------------------------------------------------------

std::string print_rank(int rank) {
  return rank == all_ranks ? "all" : fmt::format("{}", rank);
}

std::string print(const area& a) {
  return fmt::format("area {} {} owner={} bytes={} rights={} first={} last={}\n", a.id,
                     kinds.at(static_cast<std::size_t>(a.kind)), print_rank(a.owner), a.bytes,
                     a.allowed, a.first, a.last);
}

area read_area(std::istringstream& words, const std::string& line) {
  area a;
  std::string kind, word;
  words >> a.id >> kind;
  a.kind = static_cast<area_kind>(number_of(kinds, kind, line));
  while (words >> word) {
    const auto [name, text] = halves(word, line);
    if (name == "owner")
      a.owner = whole(text, line);
    else if (name == "bytes")
      a.bytes = number(text, line);
    else if (name == "rights")
      a.allowed = whole(text, line);
    else if (name == "first")
      a.first = whole(text, line);
    else if (name == "last")
      a.last = whole(text, line);
    else
      refuse(line, "'" + name + "' is no field of an area");
  }
  return a;
}

setting read_setting(std::istringstream& words, const std::string& line) {
  std::string rank, pair;
  words >> rank >> pair;
  const auto [name, value] = halves(pair, line);
  return {whole(rank, line), name, value};
}

lane_plan read_lane(std::istringstream& words, const std::string& line) {
  lane_plan l;
  std::string kind;
  words >> l.number >> kind;
  if (kind != "shared") l.owner = whole(halves(kind, line).second, line);
  return l;
}

}  // namespace

std::string_view name_of(verb v) {
  return verbs.at(static_cast<std::size_t>(v));
}
std::string_view name_of(form f) {
  return forms.at(static_cast<std::size_t>(f));
}
std::string_view name_of(mistake m) {
  return mistakes.at(static_cast<std::size_t>(m));
}

std::string print(const step& s) {
  std::string line =
      fmt::format("{}: {}.{} {}", s.id, print_rank(s.rank), s.thread, name_of(s.what));
  line += print_op(s);
  for (const field& f : fields) line += print_field(f, s);
  if (s.ends != ending::flag)
    line += fmt::format(" ends={}", endings.at(static_cast<std::size_t>(s.ends)));
  if (s.as != form::plain) line += fmt::format(" as={}", forms.at(static_cast<std::size_t>(s.as)));
  return line;
}

std::string print(const plan& p) {
  std::string text = fmt::format("seed {}\nranks {}\nthreads {}\n", p.seed, p.ranks, p.threads);
  for (const setting& s : p.settings)
    text += fmt::format("set {} {}={}\n", print_rank(s.rank), s.name, s.value);
  for (const lane_plan& l : p.lanes)
    text += l.owner < 0 ? fmt::format("lane {} shared\n", l.number)
                        : fmt::format("lane {} exclusive={}\n", l.number, l.owner);
  for (const area& a : p.areas) text += print(a);
  int phase = -1;
  for (const step& s : p.steps) {
    if (s.phase != phase) text += fmt::format("phase {}\n", phase = s.phase);
    text += "  " + print(s) + "\n";
  }
  return text;
}

plan read(const std::string& text) {
  plan p;
  std::istringstream lines(text);
  int phase = 0;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string first;
    if (!(words >> first) || first.starts_with('#')) continue;
    if (first == "seed")
      words >> p.seed;
    else if (first == "ranks")
      words >> p.ranks;
    else if (first == "threads")
      words >> p.threads;
    else if (first == "set")
      p.settings.push_back(read_setting(words, line));
    else if (first == "lane")
      p.lanes.push_back(read_lane(words, line));
    else if (first == "area")
      p.areas.push_back(read_area(words, line));
    else if (first == "phase")
      words >> phase;
    else if (first.ends_with(':'))
      p.steps.push_back(read_step(words, first, phase, line));
    else
      refuse(line, "not a line of a plan");
  }
  return p;
}

}  // namespace heddle::fuzz
