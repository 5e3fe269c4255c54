"""Judging by an endpoint: prompts a second beside other clients, memory at the paper's size."""

import asyncio
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

import psutil
from sqlalchemy import insert

from judge import judge_study
from judge.engines.engine_settings import OpenAISettings
from study import Study
from study.schema import Output, Query, Response, ResponsePassage, digest, table
from study.schema.tables import passages as passage_table
from tests.judge.stub.process import Stub, running_stub

# The paper's size: 4,719 queries, two retrievers with three systems each, five constructs; twenty
# passages of 300 tokens. The passages are drawn from a small set, so that the study is soon made.
QUERIES, RETRIEVERS, READERS, CONSTRUCTS = 4719, 2, 3, 5
PASSAGES, LENGTH, TEXTS = 20, 1290, 400
FEW_QUERIES = 400
CONCURRENCY = 64
PEER_PROMPTS = 3000
RUNS = 3


def main() -> None:
    """Print medians; the aims are 800 prompts a second, each on disk, and memory that is flat."""
    with tempfile.TemporaryDirectory() as folder, running_stub(keeps_log=False) as stub:
        ours = _speed(Path(folder), stub)
        _beside(stub, ours)
        _memory(Path(folder), stub)


class Watched(NamedTuple):
    """One run of ours in a process of its own."""

    answered: int
    seconds: float
    """From the first prompt to the last judgment on disk, without the start of Python."""
    cpu: float
    """Seconds of processor time of the whole process."""
    stub_cpu: float
    memory: list[float]
    """Resident megabytes, twice a second."""


def _speed(folder: Path, stub: Stub) -> float:
    rates = []
    for number in range(RUNS):
        make_study(folder / f"few-{number}", FEW_QUERIES)
        run = _watched(folder / f"few-{number}", stub)
        rates.append(run.answered / run.seconds)
        print(
            f"ours: {run.answered} prompts of 26 kB, every judgment on disk: "
            f"{rates[-1]:.0f} a second; of a processor {run.cpu / run.seconds:.0%} ours (its start "
            f"included), {run.stub_cpu / run.seconds:.0%} the endpoint's"
        )
    print(f"ours: {statistics.median(rates):.0f} prompts a second (median)")
    return statistics.median(rates)


def _beside(stub: Stub, ours: float) -> None:
    """Print the speed of other clients, which only ask and store nothing."""
    for name in PEERS:
        if find_spec(name) is None:
            print(f"{name}: not installed")
            continue
        command = [sys.executable, "-m", "tests.benchmarks.judge_requests", name, stub.base_url]
        rates = [float(subprocess.check_output(command, text=True)) for _ in range(RUNS)]
        rate = statistics.median(rates)
        print(f"{name}, nothing stored: {rate:.0f} a second (median); ours is {ours / rate:.2f}x")


def _memory(folder: Path, stub: Stub) -> None:
    started = time.perf_counter()
    make_study(folder / "paper", QUERIES)
    size = (folder / "paper" / "study.db").stat().st_size / 1e6
    print(f"a study of the paper's size: {time.perf_counter() - started:.0f} s, {size:.0f} MB")
    run = _watched(folder / "paper", stub)
    parts = [run.memory[len(run.memory) * share // 100] for share in (10, 25, 50, 75)]
    print(
        f"the paper's size: {run.answered} prompts in {run.seconds:.0f} s "
        f"({run.answered / run.seconds:.0f} a second); peak {max(run.memory):.0f} MB; after 10, "
        f"25, 50, 75% of the time and at the end "
        f"{', '.join(f'{part:.0f}' for part in [*parts, run.memory[-1]])} MB"
    )


def _watched(folder: Path, stub: Stub) -> Watched:
    endpoint = psutil.Process(stub.pid)
    before = _cpu(endpoint)
    command = [sys.executable, "-m", "tests.benchmarks.judge_requests", "ours", stub.base_url]
    memory: list[float] = []
    with subprocess.Popen([*command, str(folder)], stdout=subprocess.PIPE, text=True) as process:
        watched, cpu = psutil.Process(process.pid), 0.0
        while process.poll() is None:
            try:
                memory.append(watched.memory_info().rss / 1e6)
                cpu = _cpu(watched)
            except psutil.Error:
                break
            time.sleep(0.5)
        assert process.stdout is not None
        text = process.stdout.read()
    if process.returncode != 0:
        sys.exit(f"the run failed: {text}")
    record = json.loads(text)
    # Of a process that has ended nothing is left to see: the last sight counts.
    memory = [megabytes for megabytes in memory if megabytes > 0]
    return Watched(record["answered"], record["seconds"], cpu, _cpu(endpoint) - before, memory)


def _cpu(process: psutil.Process) -> float:
    times = process.cpu_times()
    return float(times.user + times.system)


def make_study(folder: Path, queries: int) -> None:
    """Make a study straight in its tables: an import of this size would take minutes."""
    draw = Random(20261121)
    words = [f"word{number}" if number % 7 else "metabolism" for number in range(3000)]
    study = Study.create(folder)
    with study.write() as connection:
        texts = [" ".join(draw.choices(words, k=250))[:LENGTH] for _ in range(TEXTS)]
        passages = [
            {"id": number, "text": text, "content_hash": digest(text.encode())}
            for number, text in enumerate(texts, 1)
        ]
        connection.execute(insert(passage_table), passages)
        for query in range(1, queries + 1):
            for noun, rows in _of_query(query, draw, words).items():
                connection.execute(insert(table(noun)), rows)
    study.close()


def _of_query(query: int, draw: Random, words: Sequence[str]) -> dict[Any, list[dict[str, Any]]]:
    rows: dict[Any, list[dict[str, Any]]] = {
        Query: [
            {
                "id": query,
                "key": f"q{query}",
                "text": f"What is known of subject number {query}?",
                "references": [" ".join(draw.choices(words, k=20))],
                "attributes": {},
            }
        ],
        Response: [],
        Output: [],
        ResponsePassage: [],
    }
    for retriever in range(RETRIEVERS):
        chosen = draw.sample(range(1, TEXTS + 1), PASSAGES)
        context = digest(json.dumps([query, retriever]).encode())
        for reader in range(READERS):
            system = retriever * READERS + reader
            key = (query - 1) * RETRIEVERS * READERS + system + 1
            text = " ".join(draw.choices(words, k=40))
            rows[Response].append(
                {
                    "id": key,
                    "key": f"r{key}",
                    "version": 1,
                    "text": text,
                    "query_id": query,
                    "content_hash": digest(text.encode(), context),
                    "context_hash": context,
                }
            )
            rows[Output].append(
                {
                    "system": "ABCDEF"[system],
                    "revision": 1,
                    "query_id": query,
                    "response_id": key,
                }
            )
            rows[ResponsePassage] += [
                {"response_id": key, "position": position, "passage_id": passage, "document": None}
                for position, passage in enumerate(chosen)
            ]
    return rows


def ask_ours(base_url: str, folder: str) -> None:
    """Judge a whole study, and print how many prompts took how long."""
    study = Study.open(folder)
    settings = OpenAISettings(base_url=base_url, model="stub-judge", concurrency=CONCURRENCY)
    outcome = judge_study(study, settings)
    assert not outcome.remaining, outcome
    assert not outcome.missing, outcome
    study.close()
    print(json.dumps({"answered": outcome.answered, "seconds": outcome.seconds}))


Ask = Callable[[str], Awaitable[Any]]


async def _with_openai(base_url: str, use: Callable[[Ask], Awaitable[None]]) -> None:
    import openai

    client = openai.AsyncOpenAI(base_url=base_url, api_key="none", max_retries=0)

    async def ask(prompt: str) -> None:
        answer = await client.chat.completions.create(
            model="stub-judge",
            messages=[{"role": "user", "content": prompt}],
            max_tokens=16,
            temperature=0,
        )
        assert answer.choices[0].message.content

    await use(ask)
    await client.close()


async def _with_httpx(base_url: str, use: Callable[[Ask], Awaitable[None]]) -> None:
    import httpx

    limits = httpx.Limits(max_connections=CONCURRENCY, max_keepalive_connections=CONCURRENCY)
    async with httpx.AsyncClient(limits=limits, timeout=60, trust_env=False) as client:

        async def ask(prompt: str) -> None:
            answer = await client.post(f"{base_url}/chat/completions", json=_body(prompt))
            assert answer.json()["choices"][0]["message"]["content"]

        await use(ask)


async def _with_aiohttp(base_url: str, use: Callable[[Ask], Awaitable[None]]) -> None:
    import aiohttp

    connector = aiohttp.TCPConnector(limit=CONCURRENCY)
    async with aiohttp.ClientSession(connector=connector) as client:

        async def ask(prompt: str) -> None:
            async with client.post(f"{base_url}/chat/completions", json=_body(prompt)) as answer:
                assert (await answer.json())["choices"][0]["message"]["content"]

        await use(ask)


def _body(prompt: str) -> dict[str, Any]:
    messages = [{"role": "user", "content": prompt}]
    return {"model": "stub-judge", "messages": messages, "max_tokens": 16, "temperature": 0}


PEERS = {"openai": _with_openai, "httpx": _with_httpx, "aiohttp": _with_aiohttp}


def ask_as_a_peer(name: str, base_url: str) -> None:
    """Ask some prompts with another client, and print how many a second."""
    context = " ".join(f"word{number}" for number in range(3000))[: PASSAGES * LENGTH]

    async def all_of_them(ask: Ask) -> None:
        slots = asyncio.Semaphore(CONCURRENCY)

        async def one(number: int) -> None:
            async with slots:
                await ask(f"{context}\n{number}")

        await one(-1)
        started = time.perf_counter()
        await asyncio.gather(*(one(number) for number in range(PEER_PROMPTS)))
        print(PEER_PROMPTS / (time.perf_counter() - started))

    asyncio.run(PEERS[name](base_url, all_of_them))


if __name__ == "__main__":
    if len(sys.argv) == 1:
        main()
    elif sys.argv[1] == "ours":
        ask_ours(*sys.argv[2:])
    else:
        ask_as_a_peer(*sys.argv[1:])
