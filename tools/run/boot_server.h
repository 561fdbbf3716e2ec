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
#include "run/join_watch.h"
#include "run/rendezvous.h"

namespace heddle::tools {

/// Serves all ranks of one job from `loop`. One thread.
class boot_server {
 public:
  boot_server(event_loop& loop, int size, const std::array<std::byte, 32>& secret);

  /// Makes the socket that rank `rank`'s process is to inherit; CLOEXEC until then. Throws error.
  [[nodiscard]] unique_fd add_rank(int rank);
  /// The process that the rank was started as, for people.
  void process_started(int rank, pid_t process) { joins_.process_started(rank, process); }
  /// The rank's process has ended, as `why` says with the rank's number: it will not join again.
  void process_ended(int rank, const std::string& why);

 private:
  struct connection {
    unique_fd socket;
    int round;
    bootstrap::protocol::frame_parser parser{bootstrap::protocol::max_blob_bytes};
    std::deque<std::shared_ptr<const rendezvous::blob>> out;
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
  void deliver();
  void count_seconds();
  void flush(int rank);
  [[nodiscard]] std::optional<connection>& link(int rank) {
    return links_[static_cast<std::size_t>(rank)];
  }

  event_loop& loop_;
  int size_;
  std::array<std::byte, 32> secret_;
  rendezvous meetings_;
  join_watch joins_;
  bool counting_ = false;                         ///< a timer for joins_ is set
  std::vector<unique_fd> inherited_;              ///< by rank: our ends
  std::vector<std::optional<connection>> links_;  ///< by rank: of the process that is joined
};

}  // namespace heddle::tools
