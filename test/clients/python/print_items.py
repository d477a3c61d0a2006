"""Follows streams for many clients in one process, and prints items as JSON lines.

Each line of the input has a client's number and its streams, each a URL and
options of connect. It starts the client, or ends it if it has no streams. Each
line of the output starts with the client's number, and has the number of the
stream if the client has several. A client's last line has the field "ended".

There are four more options. `count` ends a stream after that many events.
`keys` has the results of the function `key`; null makes it fail. `impatient`
gives up one wait after the reset. `floor_s` sets the shortest pause between
attempts, for all streams, while this one runs.
"""

from __future__ import annotations

import asyncio
import json
import sys
import traceback
from dataclasses import asdict
from typing import Any, Awaitable, Callable

sys.path.insert(0, "src/clients/python")

from flarewire import Connection, Filter, Reset, StreamError, connect, retry

Put = Callable[..., None]


def printer(client: int, **always: Any) -> Put:
    return lambda **line: print(client, json.dumps({**always, **line}), flush=True)


def without_null(value: Any) -> Any:
    """Removes None, which the types have for fields that are absent in JSON."""
    if isinstance(value, dict):
        return {key: without_null(one) for key, one in value.items() if one is not None}
    return [without_null(one) for one in value] if isinstance(value, list) else value


def key_function(keys: list[str | None]) -> Callable[[], Awaitable[str]]:
    async def key() -> str:
        result = keys.pop(0)
        if result is None:
            raise OSError("no issuer")
        return result

    return key


async def follow(url: str, options: dict[str, Any], put: Put) -> None:
    def report(now: Connection) -> None:
        put(connection=now.state, transport=now.transport, reason=now.reason, code=now.code, wait=now.retry_in_s)

    if "filter" in options:
        options["filter"] = Filter(**options["filter"])
    if "keys" in options:
        options["key"] = key_function(options.pop("keys"))
    floor_s = retry.FLOOR_S
    retry.FLOOR_S = options.pop("floor_s", floor_s)
    is_impatient = options.pop("impatient", False)
    last = options.pop("count", None)
    count = 0
    try:
        async with connect(url, on_connection=report, **options) as stream:
            async for item in stream:
                if isinstance(item, Reset):
                    # With a filter of names, only the reset has lists.
                    view = stream.raw_view or (item.view and without_null(asdict(item.view)))
                    put(reset=item.reason, lost=item.lost, cursor=item.cursor, view=view)
                    if is_impatient:
                        try:
                            await asyncio.wait_for(stream.__anext__(), 0.01)
                        except asyncio.TimeoutError:
                            put(gave_up=True)
                    continue
                assert stream.cursor == item.cursor
                count += 1
                whole = {"view": stream.raw_view} if count == last or count % 100 == 0 else {}
                state = stream.freshness and stream.freshness.state
                put(event=item.name, seq=item.seq, cursor=item.cursor, state=state, **whole)
                if count == last and stream.view:
                    # The typed view must equal what the server sent.
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
    puts = [printer(client, **({"stream": at} if many else {})) for at in range(len(streams))]
    try:
        await asyncio.gather(*(follow(*stream, put) for stream, put in zip(streams, puts)))
        printer(client)(ended=0)
    except BaseException:
        printer(client)(ended=1, why=traceback.format_exc())


async def main() -> None:
    tasks: dict[int, asyncio.Task[None]] = {}
    while line := await asyncio.to_thread(sys.stdin.readline):
        client, streams = json.loads(line)
        if streams:
            tasks[client] = asyncio.create_task(run(client, streams))
        else:
            tasks[client].cancel()


asyncio.run(main())
