// SPDX-License-Identifier: BSD-3-Clause
#include "fuzz/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <tuple>

#include "fuzz/model.h"
#include "fuzz/plan_text.h"

namespace heddle::fuzz {
namespace {

class court {
 public:
  court(const plan& p, const board& facts) : plan_(p), facts_(facts) {
    for (int r = 0; r < p.ranks; ++r) prospects_.push_back(outlook_of(p, facts, r));
  }

  std::vector<finding> judge() {
    for (int r = 0; r < plan_.ranks; ++r) judge_rank(r);
    for (const step& s : plan_.steps)
      for (int r = 0; r < plan_.ranks; ++r)
        if (s.rank == r || s.rank == all_ranks) judge_step(s, r);
    for (const group& g : groups(plan_)) judge_group(g);
    for (const area& a : plan_.areas)
      for (int r = 0; r < plan_.ranks; ++r)
        if (a.owner == r || a.owner == all_ranks) judge_area(a, r);
    return std::move(findings_);
  }

 private:
  void found(std::string kind, std::string text) {
    findings_.push_back({std::move(kind), std::move(text)});
  }
  void found(std::string kind, const step& s, int rank, std::string_view what) {
    const std::string where = s.rank == all_ranks ? fmt::format(" on rank {}", rank) : "";
    found(std::move(kind), fmt::format("'{}'{} {}", print(s), where, what));
  }

  // --- ranks ------------------------------------------------------------------------------------

  [[nodiscard]] prospect of(int rank) const { return prospects_[static_cast<std::size_t>(rank)]; }
  [[nodiscard]] prospect worst() const {
    return *std::max_element(prospects_.begin(), prospects_.end());
  }
  /// The prospect of what a step does; receives from anybody: of those with a good sender too.
  [[nodiscard]] prospect of(const step& s, int rank) const {
    if (is_collective(s.what) || s.peer < 0 || s.peer >= plan_.ranks) return worst();
    return std::max(of(rank), of(s.peer));
  }

  void judge_rank(int r) {
    const rank_record& facts = facts_.of_rank(r);
    if (facts.failure[0] != '\0' && of(r) == prospect::good && worst() == prospect::good)
      found("set-up", fmt::format("rank {} could not go on: {}", r, facts.failure.data()));
  }

  // --- steps ------------------------------------------------------------------------------------

  void judge_step(const step& s, int rank) {
    const record& r = facts_.of(s.id, rank);
    if (r.at != stage::ended || facts_.of_rank(rank).gone) return;
    if (s.what == verb::mistake) return judge_mistake(s, rank, r);
    if (s.what == verb::use) return judge_use(s, rank, r);
    judge_ends(s, rank, r);
    if (!may_end(s, rank, r.code))
      found("ending", s, rank, fmt::format("ended with {}", heddle::name_of(r.code)));
    if (r.wrong != 0 && r.code == status::done)
      found("bytes", s, rank, fmt::format("byte {} is wrong", r.wrong - 1));
    if (s.what == verb::call || s.what == verb::put_notify) judge_call(s, r);
    if (s.what == verb::probe) judge_probe(s, rank, r);
    if (s.what == verb::cancel) judge_cancel(s, rank, r);
  }

  void judge_ends(const step& s, int rank, const record& r) {
    if (!is_access(s.what) && s.what != verb::send && s.what != verb::recv &&
        s.what != verb::call && !is_collective(s.what) && s.as != form::posted)
      return;
    const bool counted =
        s.ends == ending::blocking ? s.what != verb::put_notify : r.answer == status::posted;
    const std::uint32_t expected = counted || r.answer == status::posted ? 1 : 0;
    if (r.ends != expected)
      found("twice", s, rank,
            fmt::format("was answered {} and ended {} times", heddle::name_of(r.answer),
                        r.ends.load()));
  }

  [[nodiscard]] bool may_end(const step& s, int rank, status code) const {
    if (s.what == verb::cancel || s.what == verb::probe)
      return code == status::done || code == status::not_found || !good(s, rank);
    if (is_collective(s.what) && s.peer >= plan_.ranks) return code == status::invalid;
    if (code == status::done) return true;
    if (s.what == verb::recv && (code == status::canceled || code == status::truncated))
      return true;  // judge_group
    switch (of(s, rank)) {
      case prospect::good:
        return false;
      case prospect::mortal:
        return code == status::peer_lost || worse_than_lost(code);
      case prospect::weak:
        return worse_than_lost(code) || code == status::peer_lost;
    }
    return false;
  }
  /// Honest refusals of a rank that runs out of something.
  [[nodiscard]] bool worse_than_lost(status code) const {
    const bool any_weak =
        std::count(prospects_.begin(), prospects_.end(), prospect::weak) != 0 ||
        std::any_of(plan_.settings.begin(), plan_.settings.end(),
                    [](const setting& s) { return s.name.starts_with("ulimit_"); });
    return any_weak && (code == status::unsupported || code == status::no_memory);
  }
  [[nodiscard]] bool good(const step& s, int rank) const { return of(s, rank) == prospect::good; }

  void judge_mistake(const step& s, int rank, const record& r) {
    const status expected = answer_to(static_cast<mistake>(s.op));
    if (r.code != expected && worst() == prospect::good)
      found("mistake", s, rank,
            fmt::format("was answered {}, not {}", heddle::name_of(r.code),
                        heddle::name_of(expected)));
  }

  /// Mapped memory stays usable by plain loads and stores for as long as somebody holds it.
  void judge_use(const step& s, int rank, const record& r) {
    const auto how = static_cast<late_use>(s.op);
    const bool direct = how == late_use::put || how == late_use::get || how == late_use::atomic;
    if (!after_world(s)) return;
    const bool right = r.code == status::closed ||
                       (direct && (r.answer == status::done || r.code == status::invalid)) ||
                       (how == late_use::flush && r.code == status::done);
    if (!right)
      found("closed", s, rank,
            fmt::format("was answered {} after its world had ended", heddle::name_of(r.code)));
  }
  [[nodiscard]] bool after_world(const step& s) const {
    for (const step& other : plan_.steps)
      if (other.what == verb::end_world && other.rank == s.rank) return &other < &s;
    return false;
  }

  void judge_call(const step& s, const record& r) {
    const record& there = facts_.of(s.id, s.peer);
    if (there.garbled != 0)
      found("bytes", s, s.rank, "ran its handler with wrong bytes, or before its data");
    if (there.heard > 1)
      found("call", s, s.rank, fmt::format("ran its handler {} times", there.heard.load()));
    const bool lost = there.heard == 0 && r.code == status::done && of(s, s.rank) == prospect::good;
    if (lost && !facts_.of_rank(s.peer).gone) found("call", s, s.rank, "never ran its handler");
  }

  void judge_probe(const step& s, int rank, const record& r) {
    if (r.code != status::done) return;
    for (const step& m : plan_.steps) {
      const bool there = m.what == verb::send && m.phase == s.phase && m.arrives_on() == s.lane &&
                         m.peer == s.rank;
      if (there && m.rank == r.peer && m.lane == r.lane && m.tag == r.tag && m.bytes == r.bytes)
        return;
    }
    found("order", s, rank,
          fmt::format("tells of {} bytes from {} with tag {:#x}, which nobody sent", r.bytes,
                      r.peer, r.tag));
  }

  void judge_cancel(const step& s, int rank, const record& r) {
    const record& receive = facts_.of(s.of, rank);
    if (r.code == status::done && receive.at == stage::ended && receive.code != status::canceled)
      found("ending", s, rank,
            fmt::format("was done, but the receive ended with {}", heddle::name_of(receive.code)));
  }

  // --- messages ---------------------------------------------------------------------------------

  void judge_group(const group& g) {
    if (facts_.of_rank(g.to).gone) return;
    std::vector<source> streams;
    for (const step* m : g.sends) streams.emplace_back(m->rank, m->lane, m->tag);
    std::sort(streams.begin(), streams.end());
    streams.erase(std::unique(streams.begin(), streams.end()), streams.end());
    for (const step* r : g.receives) judge_source(g, *r, streams);
    for (const source& one : streams) judge_stream(g, one);
  }

  [[nodiscard]] bool received(const step& s) const {
    const record& r = facts_.of(s.id, s.rank);
    return r.at == stage::ended && (r.code == status::done || r.code == status::truncated);
  }

  /// Rank, lane, tag.
  using source = std::tuple<int, int, std::uint64_t>;
  [[nodiscard]] static source source_of(const record& r) { return {r.peer, r.lane, r.tag}; }

  void judge_source(const group&, const step& s, const std::vector<source>& streams) {
    const record& r = facts_.of(s.id, s.rank);
    if (received(s) && std::find(streams.begin(), streams.end(), source_of(r)) == streams.end())
      found("order", s, s.rank,
            fmt::format("got a message from lane {} of {} with tag {:#x}, which nobody sent it",
                        r.lane, r.peer, r.tag));
  }

  /// Whether the message may have got lost.
  [[nodiscard]] bool may_lack(const step& m) const {
    const record& r = facts_.of(m.id, m.rank);
    return of(m, m.rank) == prospect::mortal || r.at != stage::ended || r.code != status::done;
  }

  [[nodiscard]] bool is(const step& receive, const step& m) const {
    const record& r = facts_.of(receive.id, receive.rank);
    const bool cut = receive.bytes < m.bytes;
    const std::uint64_t taken = std::min(receive.bytes, m.bytes);
    return r.code == (cut ? status::truncated : status::done) && r.bytes == taken &&
           r.value == digest_of(m.id, taken);
  }

  /// Whether receives from number `j` on are messages from number `i` on, in order. Behind the last
  /// receive there may be messages `left` for which a rank had no receive, for want of memory.
  [[nodiscard]] bool fits(const std::vector<const step*>& sent, std::size_t i,
                          const std::vector<const step*>& got, std::size_t j,
                          std::ptrdiff_t left) const {
    if (i == sent.size()) return j == got.size();
    if (j < got.size() && is(*got[j], *sent[i]) && fits(sent, i + 1, got, j + 1, left)) return true;
    if (may_lack(*sent[i])) return fits(sent, i + 1, got, j, left);
    return j == got.size() && left > 0 && fits(sent, i + 1, got, j, left - 1);
  }

  void judge_stream(const group& g, const source& from) {
    std::vector<const step*> sent, got;
    for (const step* m : g.sends)
      if (source(m->rank, m->lane, m->tag) == from) sent.push_back(m);
    for (const step* s : g.receives) {
      const record& r = facts_.of(s->id, s->rank);
      if (received(*s) && source_of(r) == from) got.push_back(s);
    }
    const auto refused = std::ranges::count_if(g.receives, [&](const step* each) {
      return worse_than_lost(facts_.of(each->id, each->rank).code);
    });
    if (!all_known(g) || fits(sent, 0, got, 0, refused)) return;
    found(got.size() < sent.size() ? "lost" : "order", explain(sent, got) + without(g));
  }
  /// A rank that was ended early says nothing more.
  [[nodiscard]] bool all_known(const group& g) const {
    return std::all_of(g.receives.begin(), g.receives.end(),
                       [&](const step* s) { return facts_.of(s->id, s->rank).at == stage::ended; });
  }

  [[nodiscard]] std::string explain(const std::vector<const step*>& sent,
                                    const std::vector<const step*>& got) const {
    std::string text = "of the messages";
    for (const step* m : sent)
      text += fmt::format(" {} ({} bytes, {})", m->id, m->bytes,
                          heddle::name_of(facts_.of(m->id, m->rank).code));
    text += fmt::format(
        ", sent in this order from rank {} to rank {} on lane {} with tag {:#x}, the receives, in "
        "theirs, got",
        sent[0]->rank, sent[0]->peer, sent[0]->arrives_on(), sent[0]->tag);
    for (const step* s : got) text += fmt::format(" {}: {};", s->id, name_what(*s, sent));
    return text;
  }
  /// The receives that got nothing.
  [[nodiscard]] std::string without(const group& g) const {
    std::string text;
    for (const step* s : g.receives)
      if (!received(*s))
        text += fmt::format(" {}: {};", s->id, heddle::name_of(facts_.of(s->id, s->rank).code));
    return text;
  }
  [[nodiscard]] std::string name_what(const step& s, const std::vector<const step*>& sent) const {
    const record& r = facts_.of(s.id, s.rank);
    for (const step* m : sent)
      if (is(s, *m)) return fmt::format("message {}", m->id);
    return fmt::format("{} bytes that nobody sent ({})", r.bytes, heddle::name_of(r.code));
  }

  // --- memory -----------------------------------------------------------------------------------

  void judge_area(const area& a, int rank) {
    if (facts_.of_rank(rank).gone) return;
    for (int phase = a.first; phase < plan_.phases() && phase <= a.last; ++phase) {
      const area_record& after = facts_.of_area(phase, a.id, rank);
      if (!after.checked) return;
      if (after.wrong != 0)
        found("bytes", fmt::format("byte {} of area {} of rank {} is wrong after phase {}",
                                   after.wrong - 1, a.id, rank, phase));
      const area_record none;
      judge_words(a, rank, phase, phase == a.first ? none : facts_.of_area(phase - 1, a.id, rank),
                  after);
    }
  }

  void judge_words(const area& a, int rank, int phase, const area_record& before,
                   const area_record& after) {
    for (std::uint64_t at = 0; at < word_bytes;) {
      const int width = at % 8 == 0 && !accesses(a, rank, phase, at, 8).empty() ? 8 : 4;
      const auto list = accesses(a, rank, phase, at, width);
      if (!explains(value(before, at, width), list, value(after, at, width), width))
        found("word", describe(a, rank, phase, at, width, before, after));
      at += static_cast<std::uint64_t>(width);
    }
  }

  static std::uint64_t value(const area_record& of, std::uint64_t at, int width) {
    std::uint64_t got = 0;
    std::memcpy(&got, reinterpret_cast<const char*>(of.words.data()) + at,
                static_cast<std::size_t>(width));
    return got;
  }

  [[nodiscard]] std::vector<word_access> accesses(const area& a, int rank, int phase,
                                                  std::uint64_t at, int width) const {
    std::vector<word_access> list;
    for (const step& s : plan_.steps) {
      if (s.what != verb::atomic || s.phase != phase || s.area != a.id || s.peer != rank ||
          s.at != at || s.width != width)
        continue;
      const record& r = facts_.of(s.id, s.rank);
      if (r.at == stage::not_begun) continue;
      word_access made{
          s.op, s.operand, s.compare, {}, r.at == stage::ended && r.code == status::done};
      if (made.certain && fetches(s)) made.old = r.value;
      list.push_back(made);
    }
    return list;
  }

  [[nodiscard]] std::string describe(const area& a, int rank, int phase, std::uint64_t at,
                                     int width, const area_record& before,
                                     const area_record& after) const {
    std::string text = fmt::format(
        "word {} of area {} of rank {} went from {:#x} to {:#x} in phase {}; no order of its "
        "accesses explains it:",
        at, a.id, rank, value(before, at, width), value(after, at, width), phase);
    for (const word_access& w : accesses(a, rank, phase, at, width))
      text += fmt::format(" op {} operand {:#x} compare {:#x} fetched {:#x};", w.op, w.operand,
                          w.compare, w.old.value_or(0));
    return text;
  }

  const plan& plan_;
  const board& facts_;
  std::vector<prospect> prospects_;
  std::vector<finding> findings_;
};

}  // namespace

std::vector<finding> judge(const plan& p, const board& facts) {
  return court(p, facts).judge();
}

prospect outlook_of(const plan& p, const board& facts, int rank) {
  const prospect planned = prospect_of(p, rank);
  if (planned != prospect::weak) return planned;
  bool alone = facts.of_rank(rank).has_ended() || facts.of_rank(rank).lost != 0;
  for (int r = 0; r < p.ranks; ++r) alone |= (facts.of_rank(r).lost >> rank & 1U) != 0;
  return alone ? prospect::mortal : planned;
}

bool nothing_is_left(const plan& p, const board& facts, const group& g) {
  const auto must_arrive = [&](int sender) {
    return outlook_of(p, facts, sender) != prospect::mortal &&
           outlook_of(p, facts, g.to) != prospect::mortal;
  };
  std::ptrdiff_t left = 0;
  for (const step* m : g.sends) {
    if (facts.of_rank(m->rank).has_ended()) continue;
    const record& r = facts.of(m->id, m->rank);
    if (r.at != stage::ended) return false;
    left += r.code == status::done && must_arrive(m->rank) ? 1 : 0;
  }
  for (const step* s : g.receives) {
    const record& r = facts.of(s->id, s->rank);
    if (r.at != stage::ended) continue;
    const bool got = r.code == status::done || r.code == status::truncated;
    left -= got && must_arrive(r.peer) ? 1 : 0;
  }
  return left <= 0;
}

}  // namespace heddle::fuzz
