"""Prints what a stream returns as JSON lines: print_items.py URL OPTIONS.

Beside those of connect, the option `count` ends it after so many events.
"""

import asyncio
import json
import sys
from dataclasses import asdict
from typing import Any

sys.path.insert(0, "src/client/python")

from flarewire import Connection, Filter, Reset, StreamError, connect


def put(**line: Any) -> None:
    print(json.dumps(line), flush=True)


def report(now: Connection) -> None:
    put(connection=now.state, transport=now.transport, reason=now.reason, code=now.code, wait=now.retry_in_s)


def without_null(value: Any) -> Any:
    """The types have None for what is absent in JSON."""
    if isinstance(value, dict):
        return {key: without_null(one) for key, one in value.items() if one is not None}
    return [without_null(one) for one in value] if isinstance(value, list) else value


async def main(url: str, options: dict[str, Any]) -> None:
    if "filter" in options:
        options["filter"] = Filter(**options["filter"])
    last = options.pop("count", None)
    count = 0
    async with connect(url, on_connection=report, **options) as stream:
        async for item in stream:
            if isinstance(item, Reset):
                put(reset=item.reason, lost=item.lost, cursor=item.cursor, view=stream.raw_view)
            else:
                assert stream.cursor == item.cursor
                count += 1
                view = {"view": stream.raw_view} if count == last or count % 100 == 0 else {}
                put(event=item.name, seq=item.seq, cursor=item.cursor, **view)
                if count == last and stream.view:
                    # What the types hold is what the server sent.
                    assert without_null(asdict(stream.view)) == without_null(stream.raw_view)
                if count == last:
                    return


try:
    asyncio.run(main(sys.argv[1], json.loads(sys.argv[2])))
except StreamError as error:
    put(stopped=str(error), code=error.code)
