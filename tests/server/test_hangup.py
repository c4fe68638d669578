import asyncio

import pytest

from weighbridge.server.hangup import STOPPING, HungUp, while_connected


def run(work, *messages):
    """`work` beside a connection that tells `messages` and then nothing more."""
    waiting = list(messages)

    async def receive():
        if waiting:
            return waiting.pop(0)
        await asyncio.Event().wait()

    return asyncio.run(while_connected(receive, work))


async def quick():
    return "done"


def test_the_result_comes_back():
    assert run(quick()) == "done"


def test_what_the_work_raises_comes_through():
    async def fail():
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        run(fail())


@pytest.mark.parametrize("stopping", [True, False])
def test_a_disconnect_ends_the_work_before_it_is_told(stopping):
    ended = []

    async def work():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    message = {"type": "http.disconnect", **({STOPPING: True} if stopping else {})}
    with pytest.raises(HungUp) as caught:
        run(work(), {"type": "http.request", "body": b""}, message)
    assert caught.value.stopping is stopping
    assert ended == [True]


def test_work_that_is_done_at_that_moment_counts():
    async def receive():
        return {"type": "http.disconnect"}

    async def both():
        return await while_connected(receive, quick())

    assert asyncio.run(both()) == "done"


def test_a_cancel_from_outside_leaves_nothing_running():
    async def outside():
        task = asyncio.ensure_future(while_connected(asyncio.Event().wait, asyncio.Event().wait()))
        await asyncio.sleep(0.01)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return asyncio.all_tasks() - {asyncio.current_task()}

    assert asyncio.run(outside()) == set()
