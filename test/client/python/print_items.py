"""Prints what streams return as JSON lines: print_items.py URL OPTIONS [URL OPTIONS ...].

Beside those of connect, the option `count` ends a stream after that many
events, `keys` are those that the function `key` returns, where null is a
failure, `impatient` gives up waiting once after the reset, and `floor_s` is the
shortest pause. With several streams, each line has the number of its stream.
"""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict
from typing import Any, Awaitable, Callable

sys.path.insert(0, "src/client/python")

from flarewire import Connection, Filter, Reset, StreamError, connect, retry

Put = Callable[..., None]


def put(**line: Any) -> None:
    print(json.dumps(line), flush=True)


def numbered(stream: int) -> Put:
    return lambda **line: put(stream=stream, **line)


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
    retry.FLOOR_S = options.pop("floor_s", retry.FLOOR_S)
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


async def main(*args: str) -> None:
    streams = [(url, json.loads(options)) for url, options in zip(args[::2], args[1::2])]
    puts = [put] if len(streams) == 1 else [numbered(stream) for stream in range(len(streams))]
    await asyncio.gather(*(follow(*stream, to) for stream, to in zip(streams, puts)))


asyncio.run(main(*sys.argv[1:]))
