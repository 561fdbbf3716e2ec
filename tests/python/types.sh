#!/bin/sh
# SPDX-License-Identifier: BSD-3-Clause
# types.sh PACKAGES - the types that the package heddle says are those of its code, and programs are held to them.
# Skipped (77) where mypy is missing.
command -v mypy >/dev/null || { echo "skipped: mypy is missing"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$1" || exit 1

# cffi and numpy say nothing of theirs.
look() {
  mypy --ignore-missing-imports --check-untyped-defs --cache-dir "$work/cache" "$@"
}

cat >"$work/right.py" <<'END'
import numpy
import heddle

def ask(world: heddle.World, peer: int) -> float:
    lane = world.lane()
    box = world.symmetric(numpy.float64, 1)
    answer = numpy.zeros(1)
    outcome = lane.irecv(peer, 7, answer).wait()
    lane.put(answer, box.at(outcome.peer))
    return float(answer[0])
END
cat >"$work/wrong.py" <<'END'
import heddle

def ask(world: heddle.World) -> None:
    world.lane().put(b"", 5)
    world.lane().isend("left", 7, b"").wait(timeout=1).peer
END
look heddle "$work/right.py" || exit 1
said=$(look "$work/wrong.py")
echo "$said"
echo "$said" | grep -q '^Found 3 errors in 1 file'
