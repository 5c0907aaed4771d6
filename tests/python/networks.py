"""Two networks that nobody else is in, joined by a cable: a server in one, strangers in the other."""

import contextlib
import ctypes
import http.client
import os
import shutil
import socket
import subprocess
import threading

import pytest
from support import PATIENCE, Server

libc = ctypes.CDLL(None, use_errno=True)
CLONE_NEWNET = 0x40000000


def ip(*args):
    done = subprocess.run(["ip", *args], capture_output=True, text=True)
    if done.returncode:
        raise OSError(f"ip {' '.join(args)}: {done.stderr.strip()}")


def inside(name, do):
    """Does something in another network: in a thread of its own, for threads may be in different ones. Sockets stay where they were made."""
    result = []

    def run():
        try:
            with open(f"/run/netns/{name}") as there:
                if libc.setns(there.fileno(), CLONE_NEWNET):
                    raise OSError(ctypes.get_errno(), "setns")
            result.append((do(), None))
        except BaseException as error:
            result.append((None, error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    value, error = result[0]
    if error:
        raise error
    return value


class Networks:
    """`home` has 192.0.2.1 and 2001:db8::1; `away` has three more of each. They are for documentation, and lead nowhere else."""

    def __init__(self):
        self.home, self.away = f"rfr-home-{os.getpid()}", f"rfr-away-{os.getpid()}"
        self.made = []
        try:
            for name in (self.home, self.away):
                ip("netns", "add", name)
                self.made.append(name)
                ip("-n", name, "link", "set", "lo", "up")
            ip("link", "add", "eth0", "netns", self.home, "type", "veth", "peer", "name", "eth0", "netns", self.away)
            for name, numbers in ((self.home, [1]), (self.away, [2, 3, 4])):
                for number in numbers:
                    ip("-n", name, "addr", "add", f"192.0.2.{number}/24", "dev", "eth0")
                    ip("-n", name, "addr", "add", f"2001:db8::{number}/48", "dev", "eth0", "nodad")
                ip("-n", name, "link", "set", "eth0", "up")
            # Of another network, as providers give them out.
            ip("-n", self.away, "addr", "add", "2001:db8:0:1::2/48", "dev", "eth0", "nodad")
        except OSError:
            self.close()
            raise

    def close(self):
        for name in self.made:
            with contextlib.suppress(OSError):
                ip("netns", "del", name)


@contextlib.contextmanager
def networks():
    if os.geteuid() or not shutil.which("ip"):
        pytest.skip("networks of their own need root, and ip (Debian: iproute2)")
    try:
        made = Networks()
    except OSError as error:
        pytest.skip(f"networks cannot be made here: {error}")
    try:
        yield made
    finally:
        made.close()


class Distant(Server):
    """A server in a network of its own, on all its addresses. It is asked from loopback there, or by strangers."""

    def __init__(self, networks, folder, *args, **settings):
        super().__init__(folder, *args, **settings)
        self.networks, self.listen, self.within = networks, "[::]", ["ip", "netns", "exec", networks.home]

    def socket(self, source=None, to=None, timeout=PATIENCE):
        """A connection of a stranger, or of this machine itself if there is no source."""
        network = self.networks.away if source else self.networks.home
        to = to or (("2001:db8::1" if ":" in source else "192.0.2.1") if source else "127.0.0.1")
        return inside(network, lambda: socket.create_connection((to, self.port), timeout, (source, 0) if source else None))

    def connect(self, timeout=30, source=None, to=None):
        connection = http.client.HTTPConnection("refrain.test" if source else "127.0.0.1", self.port, timeout=timeout)
        connection.sock = self.socket(source, to, timeout)
        return connection

    def status(self, path, source=None, headers=None):
        """Status and headers of an answer."""
        with contextlib.closing(self.connect(source=source)) as connection:
            connection.request("GET", path, headers=headers or {})
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.headers
