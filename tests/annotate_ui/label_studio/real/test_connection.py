"""Paths, private authorities, both kinds of tokens, and faults that pass."""

import time
from collections import Counter
from pathlib import Path

import pytest

from annotate_ui.label_studio import client as module
from annotate_ui.label_studio.client import Server, ServerError
from annotate_ui.label_studio.pull import pull
from annotate_ui.label_studio.push import push
from study import Study
from study.facts.label_studio_address import label_studio_address
from tests.annotate_ui.label_studio.real.process import OWNER, LabelStudioServer
from tests.annotate_ui.label_studio.real.proxy import private_certificate, proxied
from tests.annotate_ui.label_studio.real.rater_actions import projects


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_FIRST_PAUSE", 0.01)


def test_an_address_with_a_path_behind_a_private_authority(
    campaign: Study,
    label_studio: LabelStudioServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    certificate = private_certificate(tmp_path)
    with proxied(label_studio.url, prefix="/tools/ls", certificate=certificate) as proxy:
        with Server(f"{proxy.url}/", OWNER) as stranger, pytest.raises(ServerError, match="ertif"):
            stranger.check()
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "own.pem"))
        with Server(f"{proxy.url}/", OWNER) as server:
            assert push(campaign, server).tasks == 4
            assert pull(campaign, server).new == 0
    with campaign.read() as connection:
        assert label_studio_address(connection, campaign.config) == proxy.url


@pytest.fixture(scope="module")
def personal_token(label_studio: LabelStudioServer) -> str:
    """Return the personal access token of the owner, who may have one at a time."""
    with label_studio.client() as owner:
        allowed = owner.post("/api/jwt/settings", json={"api_tokens_enabled": True})
        assert allowed.status_code in {200, 201}, allowed.text
        made = owner.post("/api/token/")
        assert made.status_code == 201, made.text
        return str(made.json()["token"])


def test_a_personal_access_token(
    campaign: Study, label_studio: LabelStudioServer, personal_token: str
) -> None:
    with Server(label_studio.url, personal_token) as server:
        assert push(campaign, server).tasks == 4


def test_a_personal_token_is_renewed_below_the_path(
    campaign: Study, label_studio: LabelStudioServer, personal_token: str
) -> None:
    with (
        proxied(label_studio.url, prefix="/tools/ls") as proxy,
        Server(proxy.url, personal_token) as server,
    ):
        assert push(campaign, server).tasks == 4


def test_a_wrong_token_says_what_to_do(campaign: Study, label_studio: LabelStudioServer) -> None:
    with (
        Server(label_studio.url, "0" * 40) as server,
        pytest.raises(ServerError, match="The token is not accepted"),
    ):
        push(campaign, server)
    assert projects(campaign) == []


def test_faults_that_pass_are_tried_again(campaign: Study, label_studio: LabelStudioServer) -> None:
    def first_two(method: str, path: str, times: int) -> int | None:
        return 500 if times <= 2 and "import" not in path and method != "POST" else None

    with proxied(label_studio.url, fault=first_two) as proxy, Server(proxy.url, OWNER) as server:
        assert push(campaign, server).tasks == 4
        assert pull(campaign, server).annotations == 0


def test_tasks_whose_answer_was_lost_are_not_sent_twice(
    campaign: Study, label_studio: LabelStudioServer, server: Server
) -> None:
    def lost_once(_method: str, path: str, times: int) -> int | None:
        return -1 if path.endswith("/import") and times == 1 else None

    with proxied(label_studio.url, fault=lost_once) as proxy, Server(proxy.url, OWNER) as through:
        done = push(campaign, through)
    assert (done.tasks, done.adopted) == (4, 4)
    (project,) = projects(campaign)
    names = Counter(task["data"]["ccrs_id"] for task in server.export(project.number))
    assert sorted(names.values()) == [1, 1, 1, 1]


def test_a_project_whose_answer_was_lost_is_found_again(
    campaign: Study, label_studio: LabelStudioServer
) -> None:
    def lost_once(method: str, path: str, times: int) -> int | None:
        return -1 if (method, path) == ("POST", "/api/projects/") and times == 1 else None

    with proxied(label_studio.url, fault=lost_once) as proxy, Server(proxy.url, OWNER) as server:
        with pytest.raises(ServerError):
            push(campaign, server)
        before = {project.id for project in server.projects()}
        assert push(campaign, server).tasks == 4
        assert {project.id for project in server.projects()} == before


def test_a_server_that_does_not_answer_is_given_up(label_studio: LabelStudioServer) -> None:
    def silent(*_: object) -> int | None:
        time.sleep(2)
        return 503

    with (
        proxied(label_studio.url, fault=silent) as proxy,
        Server(proxy.url, OWNER, timeout=0.2) as server,
        pytest.raises(ServerError, match="Check that the server runs"),
    ):
        server.check()
    # The proxy that has ended does not answer either.
    with Server(proxy.url, OWNER) as server, pytest.raises(ServerError, match="Check that"):
        server.check()


def test_another_name_of_the_same_server_is_known(
    campaign: Study, label_studio: LabelStudioServer
) -> None:
    with Server(label_studio.url, OWNER) as server:
        push(campaign, server)
    alias = label_studio.url.replace("127.0.0.1", "localhost")
    with Server(alias, OWNER) as server:
        assert (pull(campaign, server).stored_anything, push(campaign, server).tasks) == (False, 0)


def test_an_address_below_the_servers_is_reported(
    campaign: Study, label_studio: LabelStudioServer
) -> None:
    with (
        Server(f"{label_studio.url}/projects", OWNER) as server,
        pytest.raises(ServerError, match="without /projects"),
    ):
        push(campaign, server)
