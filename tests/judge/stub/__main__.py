"""`python -m tests.judge.stub --behaviour slow --option delay=0.2`: prints its two ports."""

import argparse
import asyncio
import json
import sys
from typing import Any

from tests.judge.stub.behaviours import BEHAVIOURS, OF_THE_WHOLE
from tests.judge.stub.endpoint import Endpoint
from tests.judge.stub.ports import Ports
from tests.judge.stub.rules import CONDITIONS, Mode


def main() -> None:
    """Serve until standard input ends, so that nothing outlives the test that started it."""
    options = _arguments()
    endpoint = Endpoint(
        model=options.model, max_model_len=options.max_model_len, keeps_log=not options.no_log
    )
    endpoint.mode = Mode(_rules(options))
    asyncio.run(_serve(endpoint, options.port, forever=options.forever))


def _arguments() -> argparse.Namespace:
    conditions = "; ".join(f"{name}: {meaning}" for name, meaning in CONDITIONS.items())
    parser = argparse.ArgumentParser(
        "python -m tests.judge.stub", description=__doc__, epilog=f"conditions: {conditions}"
    )
    parser.add_argument("--port", type=int, default=0, help="0: a free one")
    parser.add_argument("--behaviour", action="append", choices=[*BEHAVIOURS, *OF_THE_WHOLE])
    parser.add_argument("--option", action="append", default=[], help="NAME=JSON, of the last one")
    parser.add_argument("--rules", type=json.loads, default=[], help="a JSON list of rules")
    parser.add_argument("--model", default="stub-judge")
    parser.add_argument("--max-model-len", type=int)
    parser.add_argument("--no-log", action="store_true", help="only count requests")
    parser.add_argument("--forever", action="store_true", help="do not end with standard input")
    return parser.parse_args()


def _rules(options: argparse.Namespace) -> list[dict[str, Any]]:
    rules: list[dict[str, Any]] = [{"behaviour": name} for name in options.behaviour or []]
    for option in options.option:
        name, _, value = option.partition("=")
        rules[-1][name] = json.loads(value)
    return [*rules, *options.rules]


async def _serve(endpoint: Endpoint, port: int, *, forever: bool) -> None:
    ports = Ports(endpoint)
    asked, control = await ports.open(port)
    print(asked, control, flush=True)
    ended = asyncio.Event()
    if not forever:
        asyncio.get_running_loop().add_reader(sys.stdin.fileno(), ended.set)
    await ended.wait()


if __name__ == "__main__":
    main()
