"""A dataset of Ray whose rows are sent while it runs: its blocks come from an actor."""

import asyncio
from collections import defaultdict
from collections.abc import Iterator
from typing import Any

import pyarrow
import ray
from ray.data.block import BlockMetadata
from ray.data.datasource import Datasource, ReadTask


class Mailbox:
    """Keeps blocks until they are answered, so that a reader that is restarted reads the same."""

    def __init__(self) -> None:
        self._blocks: list[tuple[int, bytes]] = []
        self._places: dict[int, list[int]] = defaultdict(list)
        self._ended = False
        self._changed = asyncio.Condition()

    async def put(self, number: int, prompts: bytes) -> None:
        """Add a block."""
        async with self._changed:
            self._places[number].append(len(self._blocks))
            self._blocks.append((number, prompts))
            self._changed.notify_all()

    async def get(self, place: int) -> tuple[int, bytes] | None:
        """Wait for the block at a place; None: no further block comes."""
        async with self._changed:
            await self._changed.wait_for(lambda: self._ended or place < len(self._blocks))
            return self._blocks[place] if place < len(self._blocks) else None

    async def done(self, number: int) -> None:
        """Drop the prompts of a block, whose place remains."""
        for place in self._places.pop(number, ()):
            self._blocks[place] = (number, b"")

    async def end(self) -> None:
        """End the dataset after the blocks so far."""
        async with self._changed:
            self._ended = True
            self._changed.notify_all()


class BlockSource(Datasource):  # type: ignore[misc]
    """Reads the blocks of a mailbox, in one task."""

    def __init__(self, mailbox: Any) -> None:
        super().__init__()
        self._mailbox = mailbox

    def estimate_inmemory_data_size(self) -> int | None:
        """Return None: the size is not known."""
        return None

    def get_read_tasks(
        self, parallelism: int, per_task_row_limit: int | None = None, data_context: Any = None
    ) -> list[Any]:
        """Return the task that reads."""
        del parallelism, per_task_row_limit, data_context
        mailbox = self._mailbox

        def read() -> Iterator[Any]:
            place = 0
            while (block := ray.get(mailbox.get.remote(place))) is not None:
                number, prompts = block
                column = pyarrow.array([prompts], pyarrow.binary())
                yield pyarrow.table({"number": [number], "prompts": column})
                place += 1

        unknown = BlockMetadata(num_rows=None, size_bytes=None, exec_stats=None, input_files=None)
        return [ReadTask(read, unknown)]
