#include "base/settings.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>

#include <cstdlib>
#include <map>

namespace heddle {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using environment = std::map<std::string, std::string>;

settings read(const environment& names) {
  return read_settings([&](const char* name) -> const char* {
    const auto found = names.find(name);
    return found == names.end() ? nullptr : found->second.c_str();
  });
}

std::string refusal(const environment& names) {
  try {
    (void)read(names);
  } catch (const error& e) {
    return e.what();
  }
  return "accepted";
}

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

TEST(Settings, AnEmptyEnvironmentGivesTheDefaults) {
  const settings s = read({});
  EXPECT_EQ(s.ring_bytes, 256u * 1024);
  EXPECT_EQ(s.peer_timeout_ms, 30'000u);
}

TEST(Settings, TheVendorsNetworkIsUsedByDefaultAndTheSoftwareDeviceIsNot) {
  const bool vendor = std::string(HEDDLE_UTOFU_KIND) == "vendor";
  EXPECT_EQ(read({}).backends, vendor ? "shm,utofu,tcp" : "shm,tcp");
}

TEST(Settings, WhatTheEnvironmentDoesNotSetStaysAsTheProgramChose) {
  settings chosen;
  chosen.progress = "dedicated";
  chosen.executors = 3;
  const auto get = [](const char* name) -> const char* {
    return std::string(name) == "HEDDLE_PROGRESS" ? "idle" : nullptr;
  };
  const settings s = read_settings(get, chosen);
  EXPECT_EQ(s.progress, "idle");
  EXPECT_EQ(s.executors, 3u);
}

TEST(Settings, ExecutorCoresAreNearNoneOrNumbers) {
  for (const char* good : {"near", "none", "0", "2,3"})
    EXPECT_EQ(read({{"HEDDLE_EXECUTOR_CORES", good}}).executor_cores, good);
  for (const char* bad : {"far", "2,", "-1", "2,near", "", "99999"})
    EXPECT_THAT(refusal({{"HEDDLE_EXECUTOR_CORES", bad}}), HasSubstr("core numbers")) << bad;
}

TEST(Settings, ValuesOfEachKindAreRead) {
  const settings s = read({{"HEDDLE_BACKENDS", "tcp"},
                           {"HEDDLE_HOST", "left"},
                           {"HEDDLE_SHM_CMA", "off"},
                           {"HEDDLE_EAGER_BYTES", "8K"},
                           {"HEDDLE_RECORDS", "64"},
                           {"HEDDLE_SPIN_US", "0"}});
  EXPECT_EQ(s.backends, "tcp");
  EXPECT_EQ(s.host, "left");
  EXPECT_EQ(s.cma, "off");
  EXPECT_EQ(s.eager_bytes, 8192u);
  EXPECT_EQ(s.records, 64u);
  EXPECT_EQ(s.spin_us, 0u);
}

TEST(Settings, SpinningIsANumberOrFoundOut) {
  EXPECT_EQ(read({}).spin_us, default_spin_us);
  EXPECT_EQ(read({{"HEDDLE_SPIN_US", "auto"}}).spin_us, automatic);
  EXPECT_THAT(refusal({{"HEDDLE_SPIN_US", "often"}}), HasSubstr("auto, or a whole number"));
}

TEST(Settings, ABadChoiceIsRefusedWithWhatIsAccepted) {
  EXPECT_THAT(refusal({{"HEDDLE_LOG", "loud"}}),
              AllOf(HasSubstr("HEDDLE_LOG=loud"), HasSubstr("off | error | warn | info | debug")));
}

TEST(Settings, AChoiceMustMatchWhole) {
  EXPECT_NE(refusal({{"HEDDLE_SHM_CMA", "aut"}}), "accepted");
  EXPECT_NE(refusal({{"HEDDLE_SHM_CMA", ""}}), "accepted");
  EXPECT_NE(refusal({{"HEDDLE_SHM_CMA", "auto | off"}}), "accepted");
}

TEST(Settings, NumbersAreRefusedOutsideTheirRangeAndWithRubbish) {
  EXPECT_THAT(refusal({{"HEDDLE_RECORDS", "3"}}),
              AllOf(HasSubstr("HEDDLE_RECORDS=3"), HasSubstr("from 16 to 1048576")));
  for (const char* bad : {"", "-1", "1e9", "64 ", "0x40", "99999999999999999999"})
    EXPECT_NE(refusal({{"HEDDLE_RECORDS", bad}}), "accepted") << bad;
}

TEST(Settings, SizesAreRefusedOutsideTheirRange) {
  EXPECT_THAT(refusal({{"HEDDLE_SHM_RING_BYTES", "1K"}}), HasSubstr("from 4K to 1G"));
}

TEST(Settings, AListWithAnEmptyNameIsRefused) {
  for (const char* bad : {"", ",", "shm,", "shm,,tcp", "shm, tcp"})
    EXPECT_NE(refusal({{"HEDDLE_BACKENDS", bad}}), "accepted") << bad;
}

TEST(Settings, ASizeIsBytesWithAnOptionalPowerOf1024) {
  EXPECT_EQ(parse_bytes("0"), 0u);
  EXPECT_EQ(parse_bytes("1000"), 1000u);
  EXPECT_EQ(parse_bytes("1K"), 1024u);
  EXPECT_EQ(parse_bytes("128k"), 131072u);
  EXPECT_EQ(parse_bytes("4M"), 4194304u);
  EXPECT_EQ(parse_bytes("1g"), 1073741824u);
  EXPECT_EQ(parse_bytes("17179869183G"), 17179869183u * (std::uint64_t{1} << 30));
}

TEST(Settings, WhatIsNoSizeIsRefused) {
  for (const char* bad : {"", "K", "-1", "1.5M", "1KB", "1 K", "17179869184G", "1T"})
    EXPECT_THROW((void)parse_bytes(bad), error) << bad;
}

TEST(Settings, AnUnknownNameIsToldWithTheSettingThatWasMeant) {
  for (const auto& [slip, meant] : {std::pair{"HEDDLE_RECORD", "HEDDLE_RECORDS"},
                                    {"HEDDLE_RING_BYTES", "HEDDLE_SHM_RING_BYTES"},
                                    {"HEDDLE_PEER_TIMEOUT", "HEDDLE_PEER_TIMEOUT_MS"}}) {
    const scoped_variable wrong(slip, "64");
    EXPECT_EQ(unknown_settings(), fmt::format("{} (did you mean {}?)", slip, meant));
  }
}

TEST(Settings, NamesThatSitesSetAreToldWithoutAGuess) {
  const scoped_variable dir("HEDDLE_DIR", "/opt/heddle"), home("HEDDLE_HOME", "/opt/heddle"),
      root("HEDDLE_ROOT", "/opt/heddle");
  EXPECT_EQ(unknown_settings(), "HEDDLE_DIR, HEDDLE_HOME, HEDDLE_ROOT");
}

TEST(Settings, AnUnknownNameIsAnErrorOnlyWhereStrictnessIsAskedFor) {
  const scoped_variable wrong("HEDDLE_RECORD", "64");
  EXPECT_EQ(read_settings().records, settings{}.records);
  const scoped_variable strict("HEDDLE_STRICT", "1");
  try {
    (void)read_settings();
    FAIL() << "accepted";
  } catch (const error& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("HEDDLE_RECORD (did you mean HEDDLE_RECORDS?)"),
                                HasSubstr("heddle info"), HasSubstr("HEDDLE_STRICT")));
  }
}

TEST(Settings, ABadValueOfAKnownNameIsAnErrorInAnyCase) {
  const scoped_variable bad("HEDDLE_RECORDS", "many");
  EXPECT_THROW((void)read_settings(), error);
}

TEST(Settings, TheLaunchersOwnNamesAreNotSettings) {
  const scoped_variable fd("HEDDLE_BOOT_FD", "9"), rank("HEDDLE_RANK", "0"),
      size("HEDDLE_SIZE", "1");
  EXPECT_EQ(unknown_settings(), "");
}

TEST(Settings, TheListSaysWhereEachValueComesFrom) {
  const scoped_variable log("HEDDLE_LOG", "info"), ring("HEDDLE_SHM_RING_BYTES", "65536");
  std::map<std::string, setting_row> rows;
  for (const setting_row& r : list_settings()) rows.emplace(r.name, r);
  EXPECT_EQ(rows.at("HEDDLE_LOG").value, "info");
  EXPECT_EQ(rows.at("HEDDLE_LOG").origin, "environment");
  EXPECT_EQ(rows.at("HEDDLE_SHM_RING_BYTES").value, "64K");
  EXPECT_EQ(rows.at("HEDDLE_RECORDS").origin, "default");
  for (const auto& [name, row] : rows) EXPECT_FALSE(row.help.empty()) << name;
}

TEST(Settings, ListedValuesAreAcceptedBackUnchanged) {
  environment printed;
  for (const setting_row& r : list_settings())
    if (!r.value.empty()) printed[r.name] = r.value;
  EXPECT_EQ(refusal(printed), "accepted");
  EXPECT_EQ(read(printed).credit_bytes, settings{}.credit_bytes);
}

}  // namespace
}  // namespace heddle
