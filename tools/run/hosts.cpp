// SPDX-License-Identifier: BSD-3-Clause
#include "run/hosts.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <unordered_map>
#include <utility>

#include "bootstrap/launcher_protocol.h"
#include "exit_status.h"

namespace heddle::tools {
namespace {

constexpr int most = bootstrap::protocol::max_ranks;  ///< hosts, slots and ranks alike

int slots_in(std::string_view text, std::string_view item) {
  const auto slots = whole_number(text);
  if (!slots || *slots < 1 || *slots > most)
    throw usage_error(fmt::format("'{}': '{}' is no number of ranks; write HOST:N, N from 1 to {}",
                                  item, text, most));
  return *slots;
}

/// Cuts at commas that are not inside brackets.
std::vector<std::string_view> items_of(std::string_view list) {
  std::vector<std::string_view> items;
  std::size_t begin = 0;
  int depth = 0;
  for (std::size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') ++depth;
    if (i < list.size() && list[i] == ']') --depth;
    if (i < list.size() && (list[i] != ',' || depth > 0)) continue;
    items.push_back(list.substr(begin, i - begin));
    begin = i + 1;
  }
  return items;
}

/// Something that a starter could take for an option, or a shell for more than a name.
bool is_odd(std::string_view name) {
  const auto odd = [](char c) {
    const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    return !word && std::string_view("-._@:%").find(c) == std::string_view::npos;
  };
  return name.empty() || name.front() == '-' || name.front() == '@' || name.back() == '@' ||
         std::any_of(name.begin(), name.end(), odd);
}

void check_name(std::string_view name, std::string_view item) {
  if (is_odd(name))
    throw usage_error(fmt::format("'{}' is no host: write HOST:N,HOST:N or n[1-3]:N", item));
}

void check_user(std::string_view user, std::string_view word) {
  if (is_odd(user))
    throw usage_error(fmt::format("'{}' names no user: write 'HOST user=NAME'", word));
}

[[noreturn]] void fail_range(std::string_view range, std::string_view item) {
  throw usage_error(fmt::format(
      "'{}': '{}' is no range; write numbers such as 1-3,7, at most {} hosts", item, range, most));
}

/// "01-03" as 01, 02, 03.
std::vector<std::string> numbers_of(std::string_view range, std::string_view item) {
  const std::size_t dash = range.find('-');
  const std::string_view low = range.substr(0, dash);
  const std::string_view high = dash == std::string_view::npos ? low : range.substr(dash + 1);
  const auto first = whole_number(low), last = whole_number(high);
  if (!first || !last || *first > *last || *last - *first >= most) fail_range(range, item);
  std::vector<std::string> numbers;
  for (long n = *first; n <= *last; ++n) numbers.push_back(fmt::format("{:0{}}", n, low.size()));
  return numbers;
}

/// All names that a name with Slurm's brackets stands for.
std::vector<std::string> expand(std::string_view name, std::string_view item) {
  const std::size_t open = name.find('[');
  if (open == std::string_view::npos) return {std::string(name)};
  const std::size_t close = name.find(']', open);
  if (close == std::string_view::npos)
    throw usage_error(fmt::format("'{}': a ']' is missing", item));
  const auto rests = expand(name.substr(close + 1), item);
  std::vector<std::string> names;
  for (const std::string_view range : items_of(name.substr(open + 1, close - open - 1)))
    for (const std::string& number : numbers_of(range, item))
      for (const std::string& rest : rests) {
        names.push_back(fmt::format("{}{}{}", name.substr(0, open), number, rest));
        if (names.size() > static_cast<std::size_t>(most)) fail_range(range, item);
      }
  return names;
}

/// A name as written, brackets and all, and the text behind its colon.
struct named {
  std::string_view name, slots;
};

// An address in brackets, or one with several colons, which then are not ours.
named split(std::string_view item) {
  const std::size_t at = item.find('@') == std::string_view::npos ? 0 : item.find('@') + 1;
  const std::size_t close = item.rfind(']');
  const std::size_t after = close == std::string_view::npos ? at : close;
  const std::size_t colon = item.find(':', after);
  const bool several =
      colon != std::string_view::npos && item.find(':', colon + 1) != std::string_view::npos;
  if (colon == std::string_view::npos || several) return {item, {}};
  return {item.substr(0, colon), item.substr(colon + 1)};
}

bool is_address_in_brackets(std::string_view name) {
  return name.starts_with('[') && name.ends_with(']') && name.find(':') != std::string_view::npos;
}

/// Hosts in the order in which they are first named.
class host_list {
 public:
  void add(const std::string& name, int slots) {
    const auto [found, fresh] = places_.try_emplace(name, hosts_.size());
    if (fresh)
      hosts_.push_back({name, slots});
    else
      hosts_[found->second].slots += slots;
  }
  [[nodiscard]] std::vector<host_slots> take() { return std::move(hosts_); }

 private:
  std::vector<host_slots> hosts_;
  std::unordered_map<std::string, std::size_t> places_;
};

/// "me@host", as ssh takes it.
std::string with_user(const std::string& name, std::string_view user, std::string_view item) {
  if (user.empty()) return name;
  if (name.find('@') != std::string::npos)
    throw usage_error(fmt::format("'{}' has a user already: leave out 'user={}'", item, user));
  return fmt::format("{}@{}", user, name);
}

/// What a line of a hostfile says of its hosts, where these do not say it themselves.
struct host_words {
  std::string slots = "1", user;
};

void add_item(host_list& hosts, std::string_view item, const host_words& line = {}) {
  const auto [name, slots] = split(item);
  const int count = slots_in(slots.empty() && !item.ends_with(':') ? line.slots : slots, item);
  if (is_address_in_brackets(name)) {
    const std::string_view address = name.substr(1, name.size() - 2);
    check_name(address, item);
    return hosts.add(with_user(std::string(address), line.user, item), count);
  }
  for (const std::string& one : expand(name, item)) {
    check_name(one, item);
    hosts.add(with_user(one, line.user, item), count);
  }
}

std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words;
  bool inside = false;
  for (const char c : line) {
    const bool space = c == ' ' || c == '\t' || c == '\r';
    if (!space && !inside) words.emplace_back();
    if (!space) words.back() += c;
    inside = !space;
  }
  return words;
}

[[noreturn]] void fail_line(std::string_view file, std::size_t number, std::string_view why) {
  throw usage_error(fmt::format("{}, line {}: {}", file, number, why));
}

/// How long the comment is that begins here, but for the end of its line; 0: none does. Nothing
/// when its end is missing.
std::optional<std::size_t> comment_length(std::string_view text) {
  if (text.starts_with('#') || text.starts_with("//"))
    return std::min(text.find('\n'), text.size());
  if (!text.starts_with("/*")) return 0;
  const std::size_t end = text.find("*/", 2);
  if (end == std::string_view::npos) return {};
  return end + 2;
}

/// A file's lines, blank where comments are.
std::vector<std::string> lines_of(std::string_view text, std::string_view file) {
  std::vector<std::string> lines(1);
  while (!text.empty()) {
    const auto comment = comment_length(text);
    if (!comment) fail_line(file, lines.size(), "a comment has no end, '*/'");
    const std::string_view piece = text.substr(0, std::max<std::size_t>(*comment, 1));
    for (const char c : piece)
      if (c == '\n')
        lines.emplace_back();
      else
        lines.back() += *comment == 0 ? c : ' ';
    text.remove_prefix(piece.size());
  }
  return lines;
}

// OpenMPI also has "slots = 4", in words of its own.
void join_at_equal_signs(std::vector<std::string>& words) {
  for (std::size_t i = 1; i < words.size();) {
    if (!words[i].starts_with('=') && !words[i - 1].ends_with('=')) {
      ++i;
      continue;
    }
    words[i - 1] += words[i];
    words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

host_words meaning_of(const std::vector<std::string>& words) {
  static constexpr std::array<std::string_view, 3> slots{"slots", "cpu", "count"};
  static constexpr std::array<std::string_view, 3> users{"user", "username", "user-name"};
  static constexpr std::array<std::string_view, 15> skipped{
      "max-slots", "slots-max",         "max-cpu",         "cpu-max", "max-cpus", "cpus-max",
      "max-count", "count-max",         "boards",          "sockets", "cores",    "ifname",
      "binding",   "sockets-per-board", "cores-per-socket"};
  const auto is_in = [](const auto& list, std::string_view name) {
    return std::find(list.begin(), list.end(), name) != list.end();
  };
  host_words line;
  for (std::size_t i = 1; i < words.size(); ++i) {
    std::string name = words[i].substr(0, words[i].find('='));
    const std::string value = words[i].substr(std::min(words[i].size(), name.size() + 1));
    std::replace(name.begin(), name.end(), '_', '-');
    if (is_in(slots, name))
      line.slots = value;
    else if (is_in(users, name)) {
      check_user(value, words[i]);
      line.user = value;
    } else if (!is_in(skipped, name))
      throw usage_error(
          fmt::format("'{}' is not understood; write 'HOST slots=N' or 'HOST:N'", words[i]));
  }
  return line;
}

void add_line(host_list& hosts, std::vector<std::string> words) {
  join_at_equal_signs(words);
  const host_words line = meaning_of(words);
  for (const std::string_view item : items_of(words.front())) add_item(hosts, item, line);
}

}  // namespace

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, problem] = std::from_chars(text.data(), end, value);
  if (text.empty() || problem != std::errc{} || stop != end || text.front() == '-') return {};
  return value;
}

std::vector<std::string> number_list(std::string_view text) {
  std::vector<std::string> all;
  for (const std::string_view range : items_of(text)) {
    const auto numbers = numbers_of(range, text);
    all.insert(all.end(), numbers.begin(), numbers.end());
  }
  return all;
}

std::string ranges_of(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  std::vector<std::string> ranges;
  for (std::size_t first = 0; first < numbers.size();) {
    std::size_t last = first;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    ranges.push_back(first == last ? fmt::format("{}", numbers[first])
                                   : fmt::format("{}-{}", numbers[first], numbers[last]));
    first = last + 1;
  }
  return fmt::format("{}", fmt::join(ranges, ","));
}

std::vector<host_slots> parse_hosts(std::string_view list) {
  host_list hosts;
  for (const std::string_view item : items_of(list)) add_item(hosts, item);
  return hosts.take();
}

std::vector<host_slots> parse_hostfile(std::string_view text, std::string_view name) {
  host_list list;
  const auto lines = lines_of(text, name);
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const auto words = words_of(lines[i]);
    if (words.empty()) continue;
    try {
      add_line(list, words);
    } catch (const usage_error& problem) {
      fail_line(name, i + 1, problem.what());
    }
  }
  auto hosts = list.take();
  if (hosts.empty()) throw usage_error(fmt::format("{} names no host: write 'HOST:N'", name));
  return hosts;
}

std::vector<host_ranks> place_ranks(const std::vector<host_slots>& hosts, std::optional<int> ranks,
                                    placing order) {
  long slots = 0;
  for (const host_slots& host : hosts) slots += host.slots;
  const long wanted = ranks.value_or(static_cast<int>(std::min<long>(slots, most + 1L)));
  if (wanted > most)
    throw usage_error(fmt::format("a job has at most {} ranks, the hosts take {}", most, slots));
  if (wanted > slots)
    throw usage_error(fmt::format(
        "{} ranks do not fit on hosts that take {} together: give more hosts, or more to each as "
        "HOST:N",
        wanted, slots));
  std::vector<host_ranks> placed;
  for (const host_slots& host : hosts) placed.push_back({host.name, {}});
  for (int next = 0; next < wanted;)
    for (std::size_t i = 0; i < hosts.size() && next < wanted; ++i) {
      const int room = hosts[i].slots - static_cast<int>(placed[i].ranks.size());
      const int at_once = order == placing::filling ? room : std::min(room, 1);
      for (int n = 0; n < at_once && next < wanted; ++n) placed[i].ranks.push_back(next++);
    }
  std::erase_if(placed, [](const host_ranks& host) { return host.ranks.empty(); });
  return placed;
}

std::string some_of(const std::vector<std::string>& names, std::size_t limit) {
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(std::min(limit, names.size()));
  const std::string some = fmt::format("{}", fmt::join(names.begin(), end, ", "));
  return names.size() > limit ? fmt::format("{} and {} more", some, names.size() - limit) : some;
}

std::vector<branch> branches_of(const std::vector<host_ranks>& hosts, int fanout,
                                const std::function<bool(const std::string&)>& near) {
  std::vector<branch> branches;
  std::vector<host_ranks> far;
  for (const host_ranks& host : hosts)
    if (near(host.name))
      branches.push_back({host});
    else
      far.push_back(host);
  const auto room = static_cast<std::size_t>(std::max(1, fanout));
  const std::size_t left = room > branches.size() ? room - branches.size() : 1;
  const std::size_t count = std::min(left, far.size());
  for (std::size_t i = 0; i < count; ++i) {
    const auto first = far.begin() + static_cast<std::ptrdiff_t>(i * far.size() / count);
    const auto end = far.begin() + static_cast<std::ptrdiff_t>((i + 1) * far.size() / count);
    branches.push_back({*first, {first + 1, end}});
  }
  return branches;
}

}  // namespace heddle::tools
