#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A starter whose channel goes over the network, as ssh's does, without keys or secrets: for tests.

network_starter.py serve ADDRESS            on each "host": runs the commands it is sent
network_starter.py run ADDRESS COMMAND...   here: COMMAND's input and output are this one's
"""
import os
import socket
import subprocess
import sys
import threading

PORT = 4022


def read_line(connection):
    line = b""
    while not line.endswith(b"\n"):
        line += connection.recv(1) or b"\n"
    return line.decode()


def serve(address):
    server = socket.create_server((address, PORT))
    while True:
        connection, _ = server.accept()
        subprocess.Popen(["sh", "-c", read_line(connection)], stdin=connection, stdout=connection,
                         stderr=subprocess.DEVNULL, start_new_session=True)
        connection.close()


def send_input(connection):
    while data := os.read(0, 65536):
        connection.sendall(data)
    connection.shutdown(socket.SHUT_WR)


def run(address, command):
    connection = socket.create_connection((address, PORT))
    connection.sendall((command + "\n").encode())
    threading.Thread(target=send_input, args=(connection,), daemon=True).start()
    while data := connection.recv(65536):
        os.write(1, data)


if sys.argv[1] == "serve":
    serve(sys.argv[2])
else:
    run(sys.argv[2], " ".join(sys.argv[3:]))
