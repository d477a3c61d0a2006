"""Prints what streams return as JSON lines, for many clients in one process.

Each line of the input starts or ends a client: its number, and its streams,
each a URL and the options of connect. A client with several streams prints the
number of the stream in each line. Before each line stands the client's number;
a line "ended" is its last one.

Beside those of connect, the option `count` ends a stream after that many
events, `keys` are those that the function `key` returns, where null is a
failure, `impatient` gives up waiting once after the reset, and `floor_s` is the
shortest pause of all while it runs.
"""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from dataclasses import asdict
from typing import Any, Awaitable, Callable

sys.path.insert(0, "src/client/python")

from flarewire import Connection, Filter, Reset, StreamError, connect, retry

Put = Callable[..., None]


def putting(client: int, **always: Any) -> Put:
    return lambda **line: print(client, json.dumps({**always, **line}), flush=True)


def without_null(value: Any) -> Any:
    """The types have None for what is absent in JSON."""
    if isinstance(value, dict):
        return {key: without_null(one) for key, one in value.items() if one is not None}
    return [without_null(one) for one in value] if isinstance(value, list) else value


def asking(keys: list[str | None]) -> Callable[[], Awaitable[str]]:
    async def ask() -> str:
        key = keys.pop(0)
        if key is None:
            raise OSError("no issuer")
        return key

    return ask


async def follow(url: str, options: dict[str, Any], put: Put) -> None:
    def report(now: Connection) -> None:
        put(connection=now.state, transport=now.transport, reason=now.reason, code=now.code, wait=now.retry_in_s)

    if "filter" in options:
        options["filter"] = Filter(**options["filter"])
    if "keys" in options:
        options["key"] = asking(options.pop("keys"))
    floor_s = retry.FLOOR_S
    retry.FLOOR_S = options.pop("floor_s", floor_s)
    is_impatient = options.pop("impatient", False)
    last = options.pop("count", None)
    count = 0
    try:
        async with connect(url, on_connection=report, **options) as stream:
            async for item in stream:
                if isinstance(item, Reset):
                    put(reset=item.reason, lost=item.lost, cursor=item.cursor, view=stream.raw_view)
                    if is_impatient:
                        try:
                            await asyncio.wait_for(stream.__anext__(), 0.01)
                        except asyncio.TimeoutError:
                            put(gave_up=True)
                    continue
                assert stream.cursor == item.cursor
                count += 1
                view = {"view": stream.raw_view} if count == last or count % 100 == 0 else {}
                state = stream.freshness and stream.freshness.state
                put(event=item.name, seq=item.seq, cursor=item.cursor, state=state, **view)
                if count == last and stream.view:
                    # What the types hold is what the server sent.
                    assert without_null(asdict(stream.view)) == without_null(stream.raw_view)
                if count == last:
                    return
    except StreamError as error:
        put(stopped=str(error), code=error.code)
    finally:
        retry.FLOOR_S = floor_s


async def run(client: int, streams: list[tuple[str, dict[str, Any]]]) -> None:
    """Follows all streams of a client until they end, or one of them fails."""
    many = len(streams) > 1
    puts = [putting(client, **({"stream": at} if many else {})) for at in range(len(streams))]
    try:
        await asyncio.gather(*(follow(*stream, put) for stream, put in zip(streams, puts)))
        putting(client)(ended=0)
    except BaseException:
        putting(client)(ended=1, why=traceback.format_exc())


async def main() -> None:
    tasks: dict[int, asyncio.Task[None]] = {}
    while line := await asyncio.to_thread(sys.stdin.readline):
        client, streams = json.loads(line)
        if streams:
            tasks[client] = asyncio.create_task(run(client, streams))
        else:
            tasks[client].cancel()


asyncio.run(main())
