"""How a server ends."""

import signal
import subprocess

import pytest
from support import PATIENCE, binary


@pytest.mark.parametrize("name", ["SIGTERM", "SIGINT"])
def test_a_signal_to_stop_is_heard_from_the_moment_it_says_that_it_listens(servers, name):
    folder = servers("--no-fetch").folder
    for _ in range(5):
        with open(folder / "log.txt", "ab") as log:
            process = subprocess.Popen([binary(), "serve", "--no-fetch", "--listen", "127.0.0.1:0"], cwd=folder, stdout=subprocess.PIPE, stderr=log)
        with process:
            assert process.stdout.readline().startswith(b"Listening on ")
            process.send_signal(getattr(signal, name))
            assert process.wait(PATIENCE) == 0, (folder / "log.txt").read_text()
