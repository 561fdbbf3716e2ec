// SPDX-License-Identifier: BSD-3-Clause
#include "backends/all_settings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/info.h>
#include <heddle/status.h>

#include <cstdlib>
#include <map>

#include "backends/registry.h"
#include "support/made_text.h"

namespace heddle::transport {
namespace {

using testing::AllOf;
using testing::HasSubstr;
/// Sets one variable of this process for the length of a test.
class scoped_variable {
 public:
  scoped_variable(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~scoped_variable() { unsetenv(name_); }
  scoped_variable(const scoped_variable&) = delete;
  scoped_variable& operator=(const scoped_variable&) = delete;

 private:
  const char* name_;
};

TEST(AllSettings, AnUnknownNameIsToldWithTheSettingThatWasMeant) {
  for (const auto& [slip, meant] : {std::pair{"HEDDLE_RECORD", "HEDDLE_RECORDS"},
                                    {"HEDDLE_RING_BYTES", "HEDDLE_SHM_RING_BYTES"},
                                    {"HEDDLE_PEER_TIMEOUT", "HEDDLE_PEER_TIMEOUT_MS"}}) {
    const scoped_variable wrong(slip, "64");
    EXPECT_EQ(unknown_settings(), fmt::format("{} (did you mean {}?)", slip, meant));
  }
}

TEST(AllSettings, NamesThatSitesSetAreToldWithoutAGuess) {
  const scoped_variable dir("HEDDLE_DIR", "/opt/heddle"), home("HEDDLE_HOME", "/opt/heddle"),
      root("HEDDLE_ROOT", "/opt/heddle");
  EXPECT_EQ(unknown_settings(), "HEDDLE_DIR, HEDDLE_HOME, HEDDLE_ROOT");
}

TEST(AllSettings, AnUnknownNameIsAnErrorOnlyWhereStrictnessIsAskedFor) {
  const scoped_variable wrong("HEDDLE_RECORD", "64");
  EXPECT_EQ(read_all_settings().records, settings{}.records);
  const scoped_variable strict("HEDDLE_STRICT", "1");
  try {
    (void)read_all_settings();
    FAIL() << "accepted";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("HEDDLE_RECORD (did you mean HEDDLE_RECORDS?)"),
                                HasSubstr("heddle info"), HasSubstr("HEDDLE_STRICT")));
  }
}

TEST(AllSettings, ABadValueOfAKnownNameIsAnErrorInAnyCase) {
  for (const char* name : {"HEDDLE_RECORDS", "HEDDLE_SHM_RING_BYTES", "HEDDLE_TCP_CHUNK_BYTES"}) {
    const scoped_variable bad(name, "many"), lonely("HEDDLE_BACKENDS", "shm");
    EXPECT_THROW((void)read_all_settings(), error) << name;
  }
}

TEST(AllSettings, OfABackendThatCannotBeLoadedEveryNameIsTaken) {
  const scoped_variable listed("HEDDLE_BACKENDS", "shm,absent"), its("HEDDLE_ABSENT_DEPTH", "7");
  const scoped_variable strict("HEDDLE_STRICT", "1");
  EXPECT_EQ(unknown_settings(), "");
  EXPECT_EQ(read_all_settings().others.at("HEDDLE_ABSENT_DEPTH"), "7");
}

TEST(AllSettings, BackendsAreNamedInTheOrderInWhichTheyAreTried) {
  const auto names = list_backends();
  const std::string all = fmt::format("{}", fmt::join(names, ","));
  EXPECT_THAT(names, testing::IsSupersetOf({"shm", "tcp"}));
  EXPECT_THAT(all, testing::StartsWith("shm,")) << all;
}

TEST(AllSettings, TheLaunchersOwnNamesAreNotSettings) {
  const scoped_variable fd("HEDDLE_BOOT_FD", "9"), rank("HEDDLE_RANK", "0"),
      size("HEDDLE_SIZE", "1");
  EXPECT_EQ(unknown_settings(), "");
}

TEST(AllSettings, TheListSaysWhereEachValueComesFrom) {
  const scoped_variable log("HEDDLE_LOG", "info"), ring("HEDDLE_SHM_RING_BYTES", "65536");
  std::map<std::string, setting_row> rows;
  for (const setting_row& r : list_settings()) rows.emplace(r.name, r);
  EXPECT_EQ(rows.at("HEDDLE_LOG").value, "info");
  EXPECT_EQ(rows.at("HEDDLE_LOG").origin, "environment");
  EXPECT_EQ(rows.at("HEDDLE_SHM_RING_BYTES").value, "64K");
  EXPECT_EQ(rows.at("HEDDLE_RECORDS").origin, "default");
  for (const auto& [name, row] : rows) EXPECT_FALSE(row.help.empty()) << name;
}

TEST(AllSettings, ListedValuesAreAcceptedBackUnchanged) {
  environment printed;
  for (const setting_row& r : list_settings())
    if (!r.value.empty()) printed[r.name] = r.value;
  const settings again = read_settings(printed);
  EXPECT_EQ(again.credit_bytes, settings{}.credit_bytes);
  for (const auto& [name, value] : printed) setenv(name.c_str(), value.c_str(), 1);
  for (const setting_row& r : list_settings()) {
    EXPECT_EQ(r.value, printed[r.name]) << r.name;
  }
  for (const auto& [name, value] : printed) unsetenv(name.c_str());
}

TEST(AllSettings, TheVendorsNetworkIsUsedByDefaultAndTheSoftwareDeviceIsNot) {
  const bool vendor = std::string(HEDDLE_UTOFU_KIND) == "vendor";
  EXPECT_EQ(settings{}.backends, vendor ? "shm,utofu,tcp" : "shm,tcp");
}

std::string row_of(const setting& s, const std::string& initial) {
  std::string accepts(s.accepts);
  if (s.is_number()) accepts += ", " + s.print(s.least) + " to " + s.print(s.most);
  for (std::size_t at = 0; (at = accepts.find(" | ", at)) != std::string::npos; at += 4)
    accepts.replace(at, 3, ", ");
  return fmt::format("| `{}` | {} | {} | {} |\n", s.name,
                     initial.empty() ? "" : "`" + initial + "`", accepts, s.help);
}

TEST(Backends, AreListedAsAWholeOrByTheirRails) {
  settings config;
  config.backends = "tcp.rail2,shm,tcp.rail0,x.rail,y.rail1z";
  const auto all = known_backends(config);
  EXPECT_EQ(all[0].name, "tcp");
  EXPECT_THAT(all[0].chosen_of(4), testing::ElementsAre(0u, 2u));
  EXPECT_THAT(all[0].chosen_of(2), testing::ElementsAre(0u));
  EXPECT_THAT(all[1].chosen_of(2), testing::ElementsAre(0u, 1u)) << "shm";
  EXPECT_EQ(all[2].name, "x.rail") << "which is no number";
  EXPECT_EQ(all[3].name, "y.rail1z");
  EXPECT_TRUE(is_listed(config, "tcp"));
  config.backends = "tcp.rail1,tcp";
  EXPECT_THAT(known_backends(config)[0].chosen_of(3), testing::ElementsAre(0u, 1u, 2u));
}

TEST(AllSettings, AreInTheGuideWithThoseOfLaunchers) {
  if (std::string_view(HEDDLE_UTOFU_KIND) == "none") GTEST_SKIP() << "without backend utofu";
  settings plain;  // not as this build was configured
  plain.backends = "shm,utofu,tcp";
  plain.checks = "off";
  const std::string head = "| name | default | accepts | what |\n|---|---|---|---|\n";
  std::string core = head, backends = head, launchers = "| name | what |\n|---|---|\n";
  for (const setting_value& v : core_settings(plain)) core += row_of(*v.what, v.value);
  for (const backend& b : known_backends())
    for (const setting& s : b.get().settings) backends += row_of(s, std::string(s.initial));
  for (const launcher_variable& v : launcher_variables())
    launchers += fmt::format("| `{}` | {} |\n", v.name, v.help);
  test::expect_made_text(GUIDE "/settings.md", "settings", core);
  test::expect_made_text(GUIDE "/settings.md", "settings of backends", backends);
  test::expect_made_text(GUIDE "/settings.md", "variables of launchers", launchers);
}

}  // namespace
}  // namespace heddle::transport
