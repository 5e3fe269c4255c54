"""The disputed responses as a project in Label Studio, settled with the star, and followed."""

import json
from pathlib import Path

from study import Study
from tests.annotate_ui.label_studio.real.process import LabelStudioServer, Member
from tests.annotate_ui.label_studio.real.rater_actions import number
from tests.annotate_ui.label_studio.real.test_commands import ccrs

ROWS = """construct,scorer,response_id,query_id,score,people,difference,reason
QR,llama-3,q0/system-0,q0,90,20,70,It fits.
QR,llama-3,q0/system-1,q0,10,50,-40,
"""


def test_disputed_responses_are_filtered_settled_and_followed(
    campaign: Study,
    label_studio: LabelStudioServer,
    members: tuple[Member, Member],
    tmp_path: Path,
) -> None:
    file = tmp_path / "largest-disagreements.csv"
    file.write_text(ROWS, encoding="utf-8")
    folder = str(campaign.folder)
    to = ("--url", label_studio.url, "--items", str(file))
    output = ccrs("label-studio", "push", folder, *to).output
    (line,) = (line for line in output.splitlines() if line.startswith("Next: "))
    project = int(line.split("--project ")[1].split()[0])
    rule = {"filter": "filter:tasks:data.difference", "operator": "greater", "type": "Number"}
    wanted = {"conjunction": "and", "items": [{**rule, "value": 50}]}
    asked = {"project": project, "query": json.dumps({"filters": wanted}), "fields": "all"}
    with label_studio.client(members[0].token) as client:
        found = client.get("/api/tasks/", params=asked).json()["tasks"]
        assert [task["data"]["response_id"] for task in found] == ["q0/system-0"]
        body = {"result": [number("QR", 35)], "ground_truth": True}
        done = client.post(f"/api/tasks/{found[0]['id']}/annotations/", json=body)
        assert done.status_code == 201, done.text
    again = json.loads(ccrs("label-studio", "push", folder, *to, "--json").output)
    assert [(one["tasks"], one["is_new"]) for one in again["projects"]] == [(0, False)]
    words = line.removeprefix(f"Next: ccrs label-studio follow {folder} ").split()
    ccrs("label-studio", "follow", folder, *words)
    table = campaign.score_table()
    assert table["value"].tolist() == [35.0]
    assert table["scorer"].tolist() == [f"ls-{members[0].id} (adjudicated)"]
