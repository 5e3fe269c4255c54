import asyncio

from judge.engines.openai.concurrency_limit import ConcurrencyLimit


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_the_limit_doubles_until_the_first_complaint_then_grows_by_one_a_round() -> None:
    limit = ConcurrencyLimit(1000)
    assert limit.limit == 16
    for _ in range(16):
        limit.grow()
    assert limit.limit == 32
    limit.halve(sent_at=1.0)
    assert limit.limit == 16
    for _ in range(16):
        limit.grow()
    assert 16.9 < limit.limit < 17.1


def test_complaints_about_one_round_count_once_and_the_limit_stays_above_0() -> None:
    clock = Clock()
    limit = ConcurrencyLimit(64, clock)
    clock.now = 5.0
    for _ in range(10):
        limit.halve(sent_at=4.0)
    assert limit.limit == 8
    for step in range(10):
        clock.now = 10.0 + step
        limit.halve(sent_at=clock.now)
    assert limit.limit == 1


def test_the_limit_never_exceeds_the_most() -> None:
    limit = ConcurrencyLimit(4)
    assert limit.limit == 4
    limit.grow()
    assert limit.limit == 4


def test_places_are_assigned_in_turn_and_a_cancelled_caller_keeps_none() -> None:
    async def scene() -> list[str]:
        limit = ConcurrencyLimit(1)
        seen = []

        async def caller(name: str) -> None:
            await limit.acquire()
            seen.append(name)
            await asyncio.sleep(0)
            limit.release()

        await limit.acquire()
        a, b, c = (asyncio.create_task(caller(name)) for name in "abc")
        await asyncio.sleep(0)
        limit.release()
        a.cancel()  # its turn has just been given
        await asyncio.gather(a, b, c, return_exceptions=True)
        assert limit.under_way == 0
        return seen

    assert asyncio.run(asyncio.wait_for(scene(), 5)) == ["b", "c"]


def test_a_wait_that_was_asked_for_holds_everybody() -> None:
    async def scene() -> float:
        limit = ConcurrencyLimit(8)
        limit.pause(0.2)
        loop = asyncio.get_running_loop()
        started = loop.time()
        await asyncio.gather(*(limit.acquire() for _ in range(4)))
        return loop.time() - started

    assert asyncio.run(asyncio.wait_for(scene(), 5)) >= 0.19


def test_a_pause_that_ends_between_two_looks_at_the_clock_holds_nobody_for_good() -> None:
    now, step = 0.0, 0.0

    def clock() -> float:
        nonlocal now
        now += step
        return now

    async def waits() -> None:
        nonlocal now, step
        limit = ConcurrencyLimit(1, clock)
        limit.pause(0.01)
        waiting = asyncio.create_task(limit.acquire())
        await asyncio.sleep(0)
        # The first look comes just before the end, the next one after it.
        now, step = 0.0097, 0.0002
        await asyncio.wait_for(waiting, 5)

    asyncio.run(waits())
