#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The port forwarding of a gateway between two networks: for tests.

forwarder.py ADDRESS PORT INNER   what connects to ADDRESS:PORT is connected to INNER:PORT
"""
import socket
import sys
import threading


def pass_on(here, there):
    try:
        while data := here.recv(1 << 16):
            there.sendall(data)
        there.shutdown(socket.SHUT_WR)
    except OSError:
        here.close()
        there.close()


address, port, inner = sys.argv[1], int(sys.argv[2]), sys.argv[3]
gate = socket.create_server((address, port))
while True:
    outside, _ = gate.accept()
    try:
        inside = socket.create_connection((inner, port))
    except OSError:
        outside.close()
        continue
    for ends in (outside, inside), (inside, outside):
        threading.Thread(target=pass_on, args=ends, daemon=True).start()
