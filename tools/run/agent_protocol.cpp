// SPDX-License-Identifier: BSD-3-Clause
#include "run/agent_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "bootstrap/launcher_protocol.h"
#include "exit_status.h"

namespace heddle::tools::agent_protocol {
namespace {

struct piece_header {
  std::uint32_t bytes;
  std::uint8_t kind;
  std::uint8_t more;  ///< 1: another piece of the same message follows
  std::uint16_t zero;
};
static_assert(sizeof(piece_header) == 8);

constexpr std::size_t most_in_piece = 64 * 1024;
/// Of a set-up or a branch beside what it says of each rank, and of a reply beside its blobs.
constexpr std::size_t some_room = 1024 * 1024;
/// A set-up has two numbers for each rank; a branch has two and the name of a host.
constexpr std::size_t most_per_rank = 2 * sizeof(std::int64_t) + 48;
constexpr std::size_t most_before_job = bootstrap::protocol::max_ranks * most_per_rank + some_room;
constexpr std::int64_t most_silence_s = 1'000'000;
constexpr std::string_view greeting_mark = "\nHEDDLE-AGENT ";
constexpr std::size_t longest_greeting = 200;

/// How many numbers a message of each kind has at least, by kind.
constexpr std::array<std::uint8_t, 24> least_numbers{0, 3, 5, 1, 1, 0, 2, 1,  // what launchers say
                                                     2, 3, 0, 1, 1, 0, 1, 3,
                                                     1, 3, 2, 1, 0, 0, 0, 2};
static_assert(least_numbers.size() == static_cast<std::size_t>(message_kind::abort) + 1);

void append(std::vector<std::byte>& to, const void* bytes, std::size_t count) {
  const auto* first = static_cast<const std::byte*>(bytes);
  to.insert(to.end(), first, first + count);
}

std::vector<std::byte> content_of(const message& m) {
  std::vector<std::byte> content;
  const std::uint64_t count = m.numbers.size();
  append(content, &count, sizeof count);
  append(content, m.numbers.data(), m.numbers.size() * sizeof m.numbers[0]);
  append(content, m.body.data(), m.body.size());
  return content;
}

std::optional<message> message_in(message_kind kind, std::span<const std::byte> content) {
  std::uint64_t count = 0;
  if (content.size() < sizeof count) return {};
  std::memcpy(&count, content.data(), sizeof count);
  content = content.subspan(sizeof count);
  if (count > content.size() / sizeof(std::int64_t)) return {};
  if (count < least_numbers[static_cast<std::size_t>(kind)]) return {};
  message m{kind};
  m.numbers.resize(count);
  if (count > 0) std::memcpy(m.numbers.data(), content.data(), count * sizeof m.numbers[0]);
  content = content.subspan(count * sizeof m.numbers[0]);
  m.body.assign(content.begin(), content.end());
  return m;
}

bool plausible(const piece_header& h) {
  return h.bytes <= most_in_piece && h.kind >= static_cast<std::uint8_t>(message_kind::branch) &&
         h.kind <= static_cast<std::uint8_t>(message_kind::abort) && h.more <= 1 && h.zero == 0;
}

/// Strings that hold no NUL, each ended by one.
void append_words(std::vector<std::byte>& to, const std::vector<std::string>& words) {
  for (const std::string& word : words) append(to, word.c_str(), word.size() + 1);
}

/// Gives words out in order; asking for more than there are is remembered.
class word_taker {
 public:
  explicit word_taker(std::vector<std::string> words) : words_(std::move(words)) {}
  std::vector<std::string> some(std::int64_t count) {
    if (count < 0 || static_cast<std::uint64_t>(count) > words_.size() - taken_) {
      failed_ = true;
      return {};
    }
    const auto first = words_.begin() + static_cast<std::ptrdiff_t>(taken_);
    taken_ += static_cast<std::size_t>(count);
    return {first, first + count};
  }
  std::string one() {
    const auto words = some(1);
    return words.empty() ? std::string() : words.front();
  }
  [[nodiscard]] bool all_taken() const { return !failed_ && taken_ == words_.size(); }

 private:
  std::vector<std::string> words_;
  std::size_t taken_ = 0;
  bool failed_ = false;
};

// What a set-up says in numbers: facts of the job, and the ranks with their commands.
bool take_facts(const message& m, set_up& s) {
  const std::int64_t size = m.numbers[0], commands = m.numbers[4];
  const auto numbers = static_cast<std::int64_t>(m.numbers.size());
  if (size < 1 || size > bootstrap::protocol::max_ranks) return false;
  if (commands < 1 || commands > numbers - 7 || (numbers - commands) % 2 == 0) return false;
  s.job_size = m.number(0);
  s.prefix = m.numbers[1] != 0;
  s.bind.asked = m.numbers[2] != 0;
  for (auto i = static_cast<std::size_t>(5 + commands); i < m.numbers.size(); i += 2) {
    const std::int64_t rank = m.numbers[i], command = m.numbers[i + 1];
    if (rank < 0 || rank >= size || command < 0 || command >= commands) return false;
    s.ranks.push_back(static_cast<int>(rank));
    s.command_of.push_back(static_cast<int>(command));
  }
  return true;
}

bool take_binding(const std::string& text, binding& how) {
  try {
    const bool asked = how.asked;
    how = parse_binding(text);
    how.asked = asked;
    return true;
  } catch (const usage_error&) {
    return false;
  }
}

std::optional<std::vector<std::string>> words_in(std::string_view text) {
  std::vector<std::string> words;
  while (!text.empty()) {
    const std::size_t end = text.find('\0');
    if (end == std::string_view::npos) return {};
    words.emplace_back(text.substr(0, end));
    text.remove_prefix(end + 1);
  }
  return words;
}

}  // namespace

std::vector<std::byte> bytes_of(std::string_view text) {
  std::vector<std::byte> bytes;
  append(bytes, text.data(), text.size());
  return bytes;
}

std::vector<std::byte> encode(const message& m) {
  const std::vector<std::byte> content = content_of(m);
  std::vector<std::byte> bytes;
  for (std::size_t sent = 0; sent < content.size();) {
    const std::size_t piece = std::min(content.size() - sent, most_in_piece);
    const bool more = sent + piece < content.size();
    const piece_header header{static_cast<std::uint32_t>(piece), static_cast<std::uint8_t>(m.kind),
                              static_cast<std::uint8_t>(more ? 1 : 0), 0};
    append(bytes, &header, sizeof header);
    append(bytes, content.data() + sent, piece);
    sent += piece;
  }
  return bytes;
}

message_parser::message_parser() noexcept : most_(most_before_job) {}

/// The largest is the answer to an exchange, which names the ranks that it is for.
void message_parser::expect_ranks(int ranks) noexcept {
  const auto count = static_cast<std::size_t>(ranks);
  most_ = bootstrap::protocol::max_everything(count) + count * sizeof(std::int64_t) + some_room;
}

void message_parser::push(std::span<const std::byte> received) {
  if (broken_) return;
  received_.erase(received_.begin(), received_.begin() + static_cast<std::ptrdiff_t>(taken_));
  taken_ = 0;
  append(received_, received.data(), received.size());
}

std::optional<message> message_parser::fail() {
  broken_ = true;
  received_.clear();
  begun_.clear();
  taken_ = 0;
  return {};
}

std::optional<message> message_parser::next() {
  while (!broken_) {
    const auto rest = std::span<const std::byte>(received_).subspan(taken_);
    piece_header header{};
    if (rest.size() < sizeof header) return {};
    std::memcpy(&header, rest.data(), sizeof header);
    const bool other = kind_ != 0 && header.kind != kind_;
    if (!plausible(header) || other || begun_.size() + header.bytes > most_) return fail();
    if (rest.size() < sizeof header + header.bytes) return {};
    taken_ += sizeof header + header.bytes;
    append(begun_, rest.data() + sizeof header, header.bytes);
    kind_ = header.more != 0 ? header.kind : std::uint8_t{0};
    if (header.more != 0) continue;
    auto whole = message_in(static_cast<message_kind>(header.kind), begun_);
    begun_.clear();
    return whole ? whole : fail();
  }
  return {};
}

std::string encode(const greeting& g) {
  return fmt::format("{}{} {}\n", greeting_mark, g.protocol, g.build);
}

std::optional<greeting> greeting_scanner::push(std::span<const std::byte> received) {
  text_.append(reinterpret_cast<const char*>(received.data()), received.size());
  for (;;) {
    const std::size_t found = text_.find(greeting_mark, begin_);
    if (found == std::string::npos) {  // it may have begun at the end
      begin_ = text_.size() - std::min(text_.size(), greeting_mark.size());
      return {};
    }
    begin_ = found;
    const std::size_t words = found + greeting_mark.size(), end = text_.find('\n', words);
    if (end == std::string::npos && text_.size() - found < longest_greeting) return {};
    const std::string line = text_.substr(words, end == std::string::npos ? end : end - words);
    greeting g;
    const auto [stop, problem] =
        std::from_chars(line.data(), line.data() + line.size(), g.protocol);
    if (end != std::string::npos && problem == std::errc{} && *stop == ' ') {
      g.build = line.substr(static_cast<std::size_t>(stop - line.data()) + 1);
      end_ = end + 1;
      return g;
    }
    begin_ = words;
  }
}

std::span<const std::byte> greeting_scanner::rest() const noexcept {
  return std::as_bytes(std::span(text_)).subspan(end_);
}

std::string greeting_scanner::noise() const {
  const std::size_t end = text_.find_last_not_of('\n');
  if (end == std::string::npos) return {};
  const std::size_t begin = text_.rfind('\n', end);
  const std::string line = text_.substr(begin + 1, std::min<std::size_t>(end - begin, 200));
  return bootstrap::protocol::decode_text(std::as_bytes(std::span(line)));
}

message encode(const subtree& s) {
  message m{message_kind::branch};
  m.numbers = {s.way.silence_s, s.way.fanout, static_cast<std::int64_t>(s.way.starter.size())};
  append_words(m.body, {s.way.heddle, s.way.from});
  append_words(m.body, s.way.starter);
  for (const host_ranks& host : s.hosts) {
    append_words(m.body, {host.name});
    m.numbers.push_back(static_cast<std::int64_t>(host.ranks.size()));
    m.numbers.insert(m.numbers.end(), host.ranks.begin(), host.ranks.end());
  }
  return m;
}

std::optional<subtree> decode_subtree(const message& m) {
  const auto words = m.kind == message_kind::branch ? words_in(m.text()) : std::nullopt;
  if (!words || m.numbers[0] < 0 || m.numbers[0] > most_silence_s || m.numbers[1] < 1 ||
      m.numbers[1] > bootstrap::protocol::max_ranks)
    return {};
  subtree s;
  s.way.silence_s = m.number(0);
  s.way.fanout = m.number(1);
  word_taker taker(*words);
  s.way.heddle = taker.one();
  s.way.from = taker.one();
  s.way.starter = taker.some(m.numbers[2]);
  for (std::size_t i = 3; i < m.numbers.size();) {
    const std::int64_t count = m.numbers[i++];
    if (count < 1 || static_cast<std::uint64_t>(count) > m.numbers.size() - i) return {};
    host_ranks host{taker.one(), {}};
    for (std::int64_t n = 0; n < count; ++n, ++i) {
      if (m.numbers[i] < 0 || m.numbers[i] >= bootstrap::protocol::max_ranks) return {};
      host.ranks.push_back(m.number(i));
    }
    s.hosts.push_back(std::move(host));
  }
  if (!taker.all_taken()) return {};
  return s;
}

message encode(const set_up& s) {
  message m{message_kind::set_up};
  m.numbers = {s.job_size, s.prefix ? 1 : 0, s.bind.asked ? 1 : 0,
               static_cast<std::int64_t>(s.environment.size()),
               static_cast<std::int64_t>(s.commands.size())};
  append(m.body, s.secret.data(), s.secret.size());
  append_words(m.body, {s.host, s.directory, s.output_folder, text_of(s.bind)});
  for (const auto& command : s.commands) {
    m.numbers.push_back(static_cast<std::int64_t>(command.size()));
    append_words(m.body, command);
  }
  append_words(m.body, s.environment);
  for (std::size_t i = 0; i < s.ranks.size(); ++i) {
    m.numbers.push_back(s.ranks[i]);
    m.numbers.push_back(s.command_of[i]);
  }
  return m;
}

std::optional<set_up> decode_set_up(const message& m) {
  set_up s;
  if (m.kind != message_kind::set_up || m.body.size() < s.secret.size()) return {};
  if (!take_facts(m, s)) return {};
  std::copy_n(m.body.begin(), s.secret.size(), s.secret.begin());
  auto words = words_in(m.text().substr(s.secret.size()));
  if (!words) return {};
  word_taker taker(std::move(*words));
  s.host = taker.one();
  s.directory = taker.one();
  s.output_folder = taker.one();
  if (!take_binding(taker.one(), s.bind)) return {};
  const auto commands = static_cast<std::size_t>(m.numbers[4]);
  for (std::size_t i = 0; i < commands; ++i) s.commands.push_back(taker.some(m.numbers[5 + i]));
  s.environment = taker.some(m.numbers[3]);
  const auto empty = [](const auto& command) { return command.empty(); };
  if (!taker.all_taken() || std::any_of(s.commands.begin(), s.commands.end(), empty)) return {};
  return s;
}

}  // namespace heddle::tools::agent_protocol
