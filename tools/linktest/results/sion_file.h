// SPDX-License-Identifier: BSD-3-Clause
// sion_file.h - SION containers, format version 5: the byte streams of many tasks in one file, or
// in a set of files. Written and read without SIONlib.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace heddle::linktest {

/// One physical file of a set, as it lies on disk.
struct sion_part {
  std::vector<std::int64_t> ranks;   ///< of the tasks whose streams are here
  std::vector<std::string> streams;  ///< their bytes, in the same order
  std::int32_t files = 1;            ///< physical files of the set
  std::string name;                  ///< of the set, as its writer called it
  bool big_endian = false;           ///< how the streams' own numbers are stored
};

/// What is in `bytes`, a whole file of format version 2 to 5 in either byte order. Throws error
/// that says what is wrong with it: never reads outside of `bytes`, and never takes more memory
/// than a few times their size.
[[nodiscard]] sion_part parse_sion(std::string_view bytes);

/// The streams of all tasks of the file at `path` and of the files of its set, by rank. Throws
/// error naming the file that is missing or wrong.
struct sion_content {
  std::vector<std::string> streams;
  bool big_endian = false;
  std::string name;  ///< as in sion_part
};
[[nodiscard]] sion_content read_sion(const std::string& path);

/// The physical files, in order, of a set that is named `name` (without folders, fewer than 1024
/// bytes) and holds stream i for task i: little endian, `files` >= 1 of them, with neighbouring
/// tasks together. There are no more files than tasks.
[[nodiscard]] std::vector<std::string> to_sion(const std::vector<std::string>& streams, int files,
                                               const std::string& name);
/// What the file `number` of the set `name` is called: the first as the set, the next
/// "name.000001".
[[nodiscard]] std::string sion_part_name(const std::string& name, int number);

}  // namespace heddle::linktest
