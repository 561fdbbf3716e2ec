#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What somebody sees who listens on a network: for tests.

recorder.py INTERFACE FILE   writes all packets of the interface into FILE, until it is ended
"""
import socket
import sys

ALL_PROTOCOLS = 0x0003

interface, file = sys.argv[1:]
listener = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ALL_PROTOCOLS))
listener.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 20)
listener.bind((interface, 0))
with open(file, "wb", buffering=0) as record:
    print("listening", flush=True)
    while True:
        record.write(listener.recv(1 << 17))
