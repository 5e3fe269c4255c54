"""The server that the manual starts calls no other machine."""

import os
import subprocess
from pathlib import Path

from annotate_ui.label_studio.client import Server
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from tests.annotate_ui.label_studio.real.process import LabelStudioServer, Member, recording
from tests.annotate_ui.label_studio.real.rater_actions import projects, rate_all


def test_accounts_projects_tasks_and_annotations_call_no_other_machine(
    campaign: Study,
    label_studio: LabelStudioServer,
    members: tuple[Member, Member],
    server: Server,
) -> None:
    push(campaign, server)
    rate_all(label_studio, members[0], projects(campaign)[0], 70)
    assert pull(campaign, server).new == 4
    with label_studio.client() as client:
        # The page of signing in asks for this, and the server would fetch it from GitHub.
        assert client.get("/heidi-tips").status_code == 404
    assert label_studio.outside_calls() == []


def test_calls_to_other_machines_are_recorded(label_studio: None, tmp_path: Path) -> None:
    python = Path(os.environ["CCRS_TEST_LABEL_STUDIO"]).parent / "python"
    code = """import socket
udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for host in ("127.0.0.1", "192.0.2.1"):
    socket.getaddrinfo(host, 80)
    try:
        udp.connect((host, 9))
    except OSError:
        pass
"""
    file = tmp_path / "calls"
    subprocess.run([python, "-c", code], env=recording(file), check=True)
    assert file.read_text() == "socket.getaddrinfo 192.0.2.1\nsocket.connect 192.0.2.1\n"
