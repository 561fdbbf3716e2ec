# SPDX-License-Identifier: BSD-3-Clause
"""A job in Python that uses every part of the package heddle, and says where something is wrong."""
import sys
import threading

import heddle
import numpy

world = heddle.World()
me, ranks = world.rank, world.size
after, before = (me + 1) % ranks, (me - 1) % ranks
lane = world.lane()


def raises(status, function, *arguments):
    try:
        function(*arguments)
    except heddle.Error as why:
        assert why.status is status, (why.status, status)
        return str(why)
    raise AssertionError(f"{function} did not fail")


def messages():
    out = numpy.arange(1000, dtype=numpy.float64) * me
    into = numpy.zeros(1000)
    request = lane.irecv(heddle.ANY_SOURCE, 0, into, mask=heddle.ANY_TAG)
    lane.send(after, 7, out)
    outcome = request.wait()
    assert (outcome.peer, outcome.tag, outcome.bytes) == (before, 7, out.nbytes), outcome
    assert request.done and (into == numpy.arange(1000) * before).all()
    lane.isend(after, 8, b"bytes are fine as well").wait()
    text = bytearray(22)
    assert lane.recv(before, 8, text).bytes == 22 and text == b"bytes are fine as well"
    assert lane.probe(before, 9) is None
    never = lane.irecv(before, 9, text)
    assert never.wait(timeout=0.001) is None and never.cancel()
    raises(heddle.Status.CANCELED, never.wait)
    sent = lane.isend(after, 10, out)
    while lane.probe(before, 10) is None:
        pass
    raises(heddle.Status.TRUNCATED, lane.recv, before, 10, text)
    sent.wait()
    raises(heddle.Status.INVALID, lane.send, ranks, 1, b"")
    raises(heddle.Status.TIMED_OUT, lambda: lane.recv(before, 13, text, timeout=0.001))
    raises(heddle.Status.TIMED_OUT, lambda: lane.match(before, 13, timeout=0))
    world.barrier()
    lane.send(after, 13, b"late")
    assert lane.recv(before, 13, text, timeout=60).bytes == 4 and text[:4] == b"late"
    lane.send(after, 13, b"later")
    assert lane.match(before, 13, timeout=60).what.bytes == 5
    lane.send(after, 12, numpy.arange(5.0))
    lane.send(after, 12, b"abc")
    assert list(lane.match(before, 12).array(numpy.float64)) == list(range(5))
    found = None
    while found is None:
        found = lane.try_match(heddle.ANY_SOURCE, 12)
    assert found.what.bytes == 3 and found.holds and lane.try_match(before, 12) is None
    assert found.recv(text).bytes == 3 and text[:3] == b"abc" and not found.holds
    raises(heddle.Status.INVALID, found.recv, text)
    many = [lane.isend(after, 11, bytes([i])) for i in range(200)]
    for i in range(200):
        assert lane.recv(before, 11, text).bytes == 1 and text[0] == i
    for request in many:
        request.wait()


def memory():
    table = world.symmetric(numpy.int64, 100)
    lane.put(numpy.array([me, me + 1]), table.at(after, 10))
    back = numpy.zeros(2, numpy.int64)
    lane.get(back, table.at(after) + 10)
    assert list(back) == [me, me + 1]
    lane.iput(numpy.array([-5]), table.at(after, 20)).wait()
    lane.flush()
    for request in lane.iflush(), lane.iflush(after), lane.ifence(after):
        assert request.wait().status is heddle.Status.DONE
        assert not request.cancel()
    lane.flush(after, timeout=60)
    lane.flush(timeout=0)
    lane.fence(after, timeout=60)
    raises(heddle.Status.INVALID, lane.flush, ranks, 60)
    lane.barrier()
    assert list(table.local[10:12]) == [before, before + 1] and table.local[20] == -5
    assert lane.fetch_add(table.at(0, 0), 1) < ranks
    lane.barrier()
    assert lane.fetch_add(table.at(0, 0), 0) == ranks
    assert lane.swap(table.at(after, 30), -7) == 0
    assert lane.compare_swap(table.at(after, 30), -7, 9) == -7
    assert lane.fetch_min(table.at(after, 40), -3) == 0 and lane.fetch_max(table.at(after, 40), -9) == -3
    reals = world.symmetric(numpy.float32, 4)
    assert lane.fetch_add(reals.at(after, 1), 1.5) == 0.0 and lane.fetch_add(reals.at(after, 1), -0.25) == 1.5
    assert lane.compare_swap(reals.at(after, 1), 1.25, 7.0) == 1.25 and lane.swap(reals.at(after, 1), 0.5) == 7.0
    try:
        lane.fetch_max(reals.at(after, 1), 1.0)
        raise AssertionError("there is a maximum of floats")
    except TypeError:
        pass
    lane.fence(after)
    assert lane.wait_until(table.local[30:31], lambda value: value == 9)
    assert not lane.wait_until(table.local[31:32], lambda value: value == 9, timeout=0.002)
    lane.put_signal(numpy.array([me + 50]), table.at(after, 51), table.at(after, 50), 1, add=False)
    lane.iput_signal(numpy.array([me + 52]), table.at(after, 52), table.at(after, 50)).wait()
    assert lane.wait_until(table.local[50:51], lambda value: value == 2)
    assert list(table.local[51:53]) == [before + 50, before + 52]
    raises(heddle.Status.OUT_OF_BOUNDS, lane.put, b"12345678", table.at(after, 100))
    world.barrier()

    mine = numpy.arange(64, dtype=numpy.int32) + 100 * me
    exposed, allocated = world.expose(mine, heddle.READ), world.allocate(numpy.float32, 16)
    keys = lane.allgather(numpy.frombuffer(exposed.key + allocated.key, numpy.uint8))
    theirs = world.import_key(bytes(keys[after][:48]), numpy.int32)
    room = world.import_key(bytes(keys[after][48:]), numpy.float32)
    got = numpy.zeros(4, numpy.int32)
    lane.get(got, theirs.at(8))
    assert list(got) == [100 * after + i for i in range(8, 12)] and theirs.owner == after
    raises(heddle.Status.DENIED, lane.put, got, theirs.at(0))
    lane.put(numpy.float32([1.5]), room.at(3))
    lane.barrier()
    assert allocated.local[3] == 1.5
    raises(None, world.import_key, bytes(48))
    world.barrier()


def blocks():
    table = world.symmetric(numpy.int32, 100)  # ten by ten
    lane.put_blocks([(numpy.int32([me, 1]), table.at(after, 0)), (numpy.int32([2]), table.at(after, 50))])
    lane.iput_blocks([(numpy.int32([3]), table.at(after, 51))]).wait()
    pair, one = numpy.zeros(2, numpy.int32), numpy.zeros(1, numpy.int32)
    lane.get_blocks([(pair, table.at(after, 50)), (one, table.at(after))])
    assert list(pair) == [2, 3] and one[0] == me
    lane.iget_blocks([(one, table.at(after, 1))]).wait()
    assert one[0] == 1
    lane.barrier()
    assert list(table.local[[0, 1, 50, 51]]) == [before, 1, 2, 3]

    mine = numpy.arange(48, dtype=numpy.int32).reshape(6, 8) + 100 * me
    lane.put_grid(mine[1:4, 2:5], table.at(after, 60), [10])
    lane.iput_grid(mine[:2, 7:8], table.at(after, 98), [1]).wait()
    back = numpy.zeros((3, 4), numpy.int32)
    lane.get_grid(back[:, 1:], table.at(after, 60), [10])
    assert (back[:, 1:] == mine[1:4, 2:5]).all() and (back[:, 0] == 0).all()
    lane.iget_grid(back[::-1, 1:], table.at(after, 60), [10]).wait()
    assert (back[::-1, 1:] == mine[1:4, 2:5]).all()
    lane.barrier()
    square = table.local.reshape(10, 10)
    assert (square[6:9, :3] == mine[1:4, 2:5] + 100 * (before - me)).all()
    assert list(square[9, 8:]) == [7 + 100 * before, 15 + 100 * before]
    for wrong in (lambda: lane.put_grid(mine, table.at(after), []), lambda: lane.put_grid(mine.T, table.at(after), [8])):
        try:
            wrong()
            raise AssertionError("that is no grid")
        except ValueError:
            pass

    head, tail = bytearray(2), numpy.zeros(3)
    request = lane.irecv_blocks(before, 30, [head, tail])
    lane.send_blocks(after, 30, [b"ab", numpy.arange(3.0)])
    assert request.wait().bytes == 26 and head == b"ab" and list(tail) == [0, 1, 2]
    gone = bytearray(b"xy")
    sent = lane.isend_blocks(after, 31, [gone, gone])
    gone[:] = b"??"  # it has been gathered
    four = bytearray(4)
    assert lane.recv_blocks(before, 31, [four]).bytes == 4 and four == b"xyxy"
    sent.wait()
    raises(heddle.Status.TIMED_OUT, lambda: lane.recv_blocks(before, 32, [four], timeout=0.001))
    world.barrier()


def placed_calls():
    blocks_of, filled, kept = {}, [], []

    @world.header_handler(7)
    def place(call):
        assert call.source == before
        blocks_of[call.header] = numpy.zeros(call.payload.what.bytes, numpy.uint8)
        filled.append(call.payload.irecv(blocks_of[call.header]))

    @world.header_handler("later")
    def keep(call):
        kept.append(call.payload)

    dropped = threading.Event()

    @world.header_handler(8)
    def drop(call):
        dropped.set()

    world.barrier()
    lane.call(after, 7, b"small", bytes(3))
    lane.call_blocks(after, 7, b"large", [bytes(1), b"\1" * 300000])
    called = lane.icall_blocks(after, world.handler_id("later"), b"", [b"\2" * 300000])
    lane.call(after, 8, b"", bytes(300000))
    while len(filled) < 2 or not kept or not dropped.is_set():
        lane.poll()
    for request in filled:
        assert request.wait().status is heddle.Status.DONE
    assert len(blocks_of[b"small"]) == 3 and blocks_of[b"large"].sum() == 300000
    assert (kept[0].array() == 2).all()
    called.wait()
    world.barrier()


def exposed_together():
    own = numpy.full(me + 1, me, numpy.int64)  # of another size on each rank
    array = world.expose_symmetric(own)
    assert [array.size_of(peer) for peer in range(ranks)] == [peer + 1 for peer in range(ranks)]
    assert array.size_of(ranks) == 0 and array.local.ctypes.data == own.ctypes.data
    got = numpy.zeros(1, numpy.int64)
    lane.get(got, array.at(after, after))
    assert got[0] == after
    lane.put(numpy.array([me + 100]), array.at(after))
    lane.barrier()
    assert own[0] == before + 100
    raises(heddle.Status.OUT_OF_BOUNDS, lane.put, got, array.at(after, after + 1))
    assert array.mapped_memory(me).ctypes.data == own.ctypes.data
    assert ranks == 1 or array.mapped_memory(after) is None  # the program's memory never is
    rights = heddle.READ if me == 0 else heddle.ALL
    assert "other rights" in raises(None, world.expose_symmetric, own, rights)
    world.barrier()


def mapped():
    shared, fixed = world.symmetric(numpy.int64, 8), world.symmetric(numpy.int64, 8, heddle.READ)
    room = world.allocate(numpy.int32, 16, heddle.READ)
    keys = lane.allgather(numpy.frombuffer(room.key, numpy.uint8))
    theirs = world.import_key(bytes(keys[after]), numpy.int32)
    on_shm = world.route(after) == "shm"
    there, readable, region = shared.mapped_memory(after), fixed.mapped_memory(after), theirs.mapped_memory()
    assert (there is not None) == (readable is not None) == (region is not None) == on_shm
    assert shared.mapped_memory(ranks) is None
    fixed.local[1], room.local[2] = me + 7, me + 8
    if on_shm:
        there[3] = me + 1
        assert not readable.flags.writeable and not region.flags.writeable and theirs.rights == heddle.READ
    lane.barrier()
    if on_shm:
        assert shared.local[3] == before + 1 and readable[1] == after + 7 and region[2] == after + 8
    world.barrier()


def handlers():
    heard, answered = [], threading.Event()

    @world.handler(5)
    def hear(message):
        heard.append((message.source, message.header, len(message.payload)))
        message.here.icall(message.source, 6, header=b"thanks", lane=message.lane)

    @world.handler(6)
    def answer(message):
        assert message.header == b"thanks" and message.source == after
        answered.set()

    named, unknown = threading.Event(), threading.Event()

    @world.handler("hello")
    def hello(message):
        named.set()

    def surprise(number, message):
        assert number == 99 and message.payload == b"?"
        unknown.set()

    world.on_unknown_call(surprise)
    assert "no handler is called bye" in raises(None, world.handler_id, "bye")
    losses = []
    world.on_peer_lost(lambda peer, why: losses.append((peer, why)))
    world.barrier()
    lane.call(after, 5, header=b"hi", payload=numpy.zeros(50000))
    assert answered.wait(60)
    lane.call(after, world.handler_id("hello"))
    lane.call(after, 99, payload=b"?")
    assert named.wait(60) and unknown.wait(60)
    while not heard:
        lane.poll()
    assert heard == [(before, b"hi", 400000)], heard
    world.barrier()


def collectives():
    assert (lane.allreduce(numpy.array([me, 1.0])) == [ranks * (ranks - 1) / 2, ranks]).all()
    least = lane.reduce(numpy.array([me], numpy.uint16), "min", root=ranks - 1)
    assert least is None if me != ranks - 1 else least[0] == 0
    told = numpy.array([42 if me == 0 else 0])
    lane.broadcast(told)
    assert told[0] == 42
    assert (lane.allgather(numpy.array([me, 2 * me]))[:, 1] == 2 * numpy.arange(ranks)).all()
    all_ = lane.gather(numpy.array(me))
    assert all_ is None if me != 0 else list(all_) == list(range(ranks))
    assert list(lane.alltoall(100 * me + numpy.arange(ranks))) == [100 * r + me for r in range(ranks)]
    raises(heddle.Status.INVALID, lane.allreduce, numpy.zeros(2), "or")
    assert list(lane.scan(numpy.array([1, me]))) == [me + 1, me * (me + 1) // 2]
    before_me = lane.exclusive_scan(numpy.array([1.0]))
    assert before_me is None if me == 0 else before_me[0] == me
    assert list(lane.reduce_scatter(numpy.arange(2 * ranks))) == [2 * me * ranks, (2 * me + 1) * ranks]
    block = numpy.zeros(2, numpy.int32)
    lane.scatter(numpy.arange(2 * ranks) if me == 1 else None, block, root=1)
    assert list(block) == [2 * me, 2 * me + 1]


def groups():
    counts = list(range(ranks))  # rank 0 has nothing
    joined = [r for r in range(ranks) for _ in range(r)]
    mine = numpy.full(me, me)
    assert list(lane.allgatherv(mine, counts)) == joined
    at_root = lane.gatherv(mine, counts if me == 1 else None, root=1)
    assert at_root is None if me != 1 else list(at_root) == joined
    back = numpy.zeros(me, numpy.int64)
    lane.scatterv(joined if me == 0 else None, back, counts if me == 0 else None)
    assert (back == me).all()
    assert list(lane.alltoallv(numpy.full(me * ranks, me), [me] * ranks, counts)) == joined

    turned = lane.split(0, -me)
    assert (turned.rank, turned.ranks) == (ranks - 1 - me, ranks) and turned.world_rank(turned.rank) == me
    assert turned.member(me) == turned.rank and turned.world_rank(ranks) == -1
    assert list(turned.allgather(numpy.array(me))) == list(reversed(range(ranks)))
    some = turned.split(heddle.NO_COLOR if me == 1 else 7)
    if me == 1:
        assert (some.rank, some.ranks) == (-1, 0)
        raises(heddle.Status.INVALID, some.barrier)
    else:
        assert some.ranks == ranks - 1 and some.allreduce(numpy.array([1]))[0] == ranks - 1
        some.barrier()
    alive = lane.survivors()
    assert alive.ranks == ranks and alive.allreduce(numpy.array([1]))[0] == ranks


def counters():
    before_it = lane.counters()
    assert before_it["lane"] == lane.number and before_it["eager"] + before_it["rendezvous"] > 0, before_it
    lane.send(after, 20, b"12345")
    lane.recv(before, 20, bytearray(5))
    assert lane.counters()["eager"] == before_it["eager"] + 1
    of_next = [p for p in lane.peer_counters() if p["peer"] == after]
    assert len(of_next) == 1 and of_next[0]["sent_messages"] >= 1 and of_next[0]["lost"] == 0, of_next
    assert f'heddle_lane_eager_total{{rank="{me}",lane="{lane.number}"}}' in world.metrics()


def worlds_beside():
    with heddle.World(beside=world, settings={"HEDDLE_RECORDS": "512"}) as named, heddle.World() as unnamed:
        assert (named.rank, unnamed.size) == (me, ranks)
        assert "HEDDLE_RECORDS 512 (program)" in named.describe()
        into = bytearray(3)
        other = named.lane()
        other.send(after, 5, b"abc")
        assert other.recv(before, 5, into).bytes == 3 and into == b"abc"
        named.barrier()
    assert "HEDDLE_RECORD " in raises(None, lambda: heddle.World(settings={"HEDDLE_RECORD": "1"}))


messages()
memory()
blocks()
exposed_together()
mapped()
handlers()
placed_calls()
collectives()
groups()
counters()
worlds_beside()
assert world.route(after) and world.host(after) and world.host_number(after) >= 0 and world.describe()
assert lane.why(after) == "" and heddle.__version__
assert "lane" in raises(None, world.lane, lane.number)
world.barrier()
world.close()
raises(heddle.Status.CLOSED, lane.send, after, 1, b"x")
print(f"rank {me}: all is right")
sys.exit(0)
