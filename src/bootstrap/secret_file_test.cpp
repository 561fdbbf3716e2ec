// SPDX-License-Identifier: BSD-3-Clause
#include "bootstrap/secret_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <heddle/status.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "support/refusal.h"

namespace heddle::bootstrap {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class SecretFile : public testing::Test {
 protected:
  ~SecretFile() override {
    unlink(path_.c_str());
    unsetenv("HEDDLE_SECRET_FILE");
  }
  void write(const std::string& text, mode_t mode) const {
    std::ofstream(path_) << text;
    chmod(path_.c_str(), mode);
  }
  [[nodiscard]] std::string refusal() const {
    return test::refusal([this] { (void)read_secret_file(path_); });
  }

  const std::string path_ = testing::TempDir() + "/secret-" + std::to_string(getpid());
};

TEST_F(SecretFile, EqualFilesGiveEqualSecretsAndOthersOthers) {
  write(std::string(32, 'a'), 0600);
  const secret_bytes first = read_secret_file(path_);
  EXPECT_EQ(read_secret_file(path_), first);
  write(std::string(32, 'b'), 0600);
  EXPECT_NE(read_secret_file(path_), first);
}

TEST_F(SecretFile, ThatOthersCanReadIsRefusedWithTheCure) {
  for (const mode_t mode : {0644, 0640, 0604, 0620}) {
    write(std::string(32, 'a'), mode);
    EXPECT_THAT(refusal(), AllOf(HasSubstr("HEDDLE_SECRET_FILE"), HasSubstr("chmod 600")));
  }
}

TEST_F(SecretFile, ThatIsTooShortToBeASecretIsRefusedWithTheCure) {
  write(std::string(31, 'a'), 0600);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("31 bytes"), HasSubstr("head -c 32 /dev/urandom")));
}

TEST_F(SecretFile, ThatIsMissingOrNoFileIsRefused) {
  EXPECT_THAT(refusal(), HasSubstr("ENOENT"));
  mkfifo(path_.c_str(), 0600);
  EXPECT_THAT(refusal(), HasSubstr("is no file"));
}

TEST_F(SecretFile, IsMixedIntoASecretThatALauncherCarried) {
  const secret_bytes carried = random_secret();
  EXPECT_EQ(mixed_with_file(carried), carried);
  write(std::string(32, 'a'), 0600);
  setenv("HEDDLE_SECRET_FILE", path_.c_str(), 1);
  const secret_bytes mixed = mixed_with_file(carried);
  EXPECT_NE(mixed, carried);
  EXPECT_NE(mixed, read_secret_file(path_));
  EXPECT_EQ(mixed_with_file(carried), mixed);
}

}  // namespace
}  // namespace heddle::bootstrap
