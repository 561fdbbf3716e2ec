// SPDX-License-Identifier: BSD-3-Clause
// boot_server.h - the launcher's side of the sockets on which ranks join and meet.
#pragma once
#include <sys/types.h>

#include <array>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bootstrap/launcher_protocol.h"
#include "run/event_loop.h"
#include "run/meeting_place.h"
#include "run/meeting_rounds.h"

namespace heddle::tools {

/// Serves the ranks of one job that are on this host from `loop`. One thread.
class boot_server {
 public:
  /// How many ranks the job has, and how many of them this serves.
  struct extent {
    int job, here;
  };

  /// What ranks call goes to `meetings`, whose answers are to come back by deliver().
  boot_server(event_loop& loop, extent size, const std::array<std::byte, 32>& secret,
              meeting_place& meetings);

  /// Makes the socket that rank `rank`'s process is to inherit; CLOEXEC until then. Throws error.
  [[nodiscard]] unique_fd add_rank(int rank);
  /// The rank's process has ended, as `why` says with the rank's number: it will not join again.
  void process_ended(int rank, const std::string& why);
  /// Answers of the meeting place; those for ranks that are not here any more are dropped.
  void deliver(const meeting_rounds::reply& reply);

 private:
  struct outgoing {
    std::shared_ptr<const meeting_rounds::blob> bytes;
    std::shared_ptr<const unique_fd> file{};  ///< that goes along, if any
  };
  struct connection {
    unique_fd socket;
    int round;
    bootstrap::protocol::frame_parser parser{bootstrap::protocol::max_blob_bytes};
    std::deque<outgoing> out;
    std::size_t sent = 0;  ///< of out.front()
    bool waiting = false;  ///< for the answer to a collective
  };
  enum class input { more, ended, broken, left };

  void accept_joins(int rank);
  void welcome(int rank, unique_fd socket);
  void refuse(unique_fd socket, const std::string& why) const;
  void serve(int rank);
  input read_frames(int rank);
  [[nodiscard]] bool handle(int rank, bootstrap::protocol::frame frame);
  void hang_up(int rank, const std::string& why);
  void lost(int rank);
  [[nodiscard]] bool is_lost(int rank) { return !loop_.watches(link(rank)->socket.get()); }
  [[nodiscard]] outgoing shared_by_ranks(const std::shared_ptr<const meeting_rounds::blob>& answer);
  void flush(int rank);
  [[nodiscard]] std::optional<connection>& link(int rank) {
    return links_[static_cast<std::size_t>(rank)];
  }

  event_loop& loop_;
  extent size_;
  std::array<std::byte, 32> secret_;
  meeting_place& meetings_;
  std::vector<unique_fd> inherited_;                    ///< by rank: our ends
  std::shared_ptr<const meeting_rounds::blob> answer_;  ///< the last that has become a file
  outgoing as_file_;                                    ///< and that
  std::vector<std::optional<connection>> links_;        ///< by rank: of the process that is joined
};

}  // namespace heddle::tools
