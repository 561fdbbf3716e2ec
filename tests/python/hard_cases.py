# SPDX-License-Identifier: BSD-3-Clause
"""A job in Python whose lanes run full, and that makes mistakes."""
import gc
import math
import os
import sys
import weakref

import heddle
import numpy

world = heddle.World()
me, ranks = world.rank, world.size
after, before = (me + 1) % ranks, (me - 1) % ranks
lane = world.lane()


def answers_on_a_full_lane():
    """More than a lane has room for, by a handler, and all come when there is room again."""
    questions, asked, came = 40, [], []
    with heddle.World(beside=world, settings={"HEDDLE_RECORDS": "16"}) as small:
        asks, answers = small.lane(), small.lane()

        @small.handler(1)
        def ask(message):
            asked.append(message.here.icall(message.source, 2, b"", bytes(300000), lane=message.lane))

        @small.header_handler(2)
        def answer(call):
            came.append(call.payload)

        small.barrier()
        for _ in range(questions):
            asks.call(after, 1, lane=answers.number)
        while len(asked) < questions:
            answers.poll()
        assert not any(request.done for request in asked)  # their payloads have not been taken
        small.barrier()
        for taken in range(questions):
            while len(came) <= taken:
                asks.poll()
            assert came[taken].array().size == 300000
        for request in asked:
            assert request.wait().status is heddle.Status.DONE
        small.barrier()


def receives_on_a_full_lane():
    """Those that wait for room can be taken back, the last ones first."""
    posted = []
    with heddle.World(beside=world, settings={"HEDDLE_RECORDS": "16"}) as small:
        on = small.lane()

        @small.handler(1)
        def post(message):
            posted.extend(message.here.irecv(after, 5, bytearray(1)) for _ in range(40))

        small.barrier()
        on.call(after, 1)
        while len(posted) < 40:
            on.poll()
        for request in reversed(posted):
            assert request.cancel() and not request.cancel()
            try:
                request.wait()
                raise AssertionError("it was taken back")
            except heddle.Error as why:
                assert why.status is heddle.Status.CANCELED
        small.barrier()


def a_forgotten_world():
    """It and its handlers are there until its close."""

    def forget():
        made = heddle.World(beside=world)
        made.on_peer_lost(lambda peer, why: None)
        return weakref.ref(made)

    forgotten = forget()
    gc.collect()
    assert forgotten() is not None
    forgotten().close()
    gc.collect()
    assert forgotten() is None


def parts_without_counts():
    """Each rank is a root that does not give them: nothing is sent."""
    nothing = numpy.zeros(0)
    for mistake in (lambda: lane.gatherv(nothing, root=me), lambda: lane.scatterv(nothing, nothing, root=me),
                    lambda: lane.allgatherv(nothing, None), lambda: lane.alltoallv(nothing, None, None)):
        try:
            mistake()
            raise AssertionError("there are no counts")
        except ValueError as why:
            assert "counts" in str(why)


def limits_of_any_length():
    for limit in (1e10, 1e300, math.inf):
        into = bytearray(1)
        lane.isend(after, 3, b"x").wait(timeout=limit)
        assert lane.recv(before, 3, into, timeout=limit).bytes == 1
        late = lane.irecv(before, 4, into)
        lane.send(after, 4, b"y")
        assert late.wait(timeout=limit).bytes == 1
        lane.flush(timeout=limit)
    never = lane.irecv(before, 5, into)
    assert never.wait(timeout=-1) is None and never.cancel()


def a_lost_rank():
    """It is named also where the operation was with everybody. The last case: that rank ends here."""
    lost = ranks - 1
    if me == lost:
        for other in range(lost):
            lane.recv(other, 8, bytearray(1))  # it has nothing more to do with this one
        print(f"rank {me}: all is right", flush=True)
        os._exit(0)
    lane.send(lost, 8, b"x")
    for ask in lambda: lane.recv(lost, 6, bytearray(1)), lane.barrier:
        try:
            ask()
            raise AssertionError("that rank is there")
        except heddle.PeerLost as why:
            assert f"rank {lost} is lost: " in str(why), why
    # Nobody leaves before the others have asked: who has left is lost as well.
    others = [rank for rank in range(lost) if rank != me]
    for other in others:
        lane.send(other, 7, b"x")
    for other in others:
        lane.recv(other, 7, bytearray(1))


answers_on_a_full_lane()
parts_without_counts()
a_forgotten_world()
receives_on_a_full_lane()
limits_of_any_length()
world.barrier()
a_lost_rank()
world.close()
print(f"rank {me}: all is right")
sys.exit(0)
