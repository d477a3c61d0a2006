"""Prints parts of a server's snapshot, and the status of a rejected request. Takes its URL."""

import asyncio
import json
import sys
from dataclasses import asdict

sys.path.insert(0, "src/clients/python")

from flarewire import Client, RequestError
from flarewire.model import ExchangeFlare


async def main(url: str) -> None:
    async with Client(url) as client:
        snapshot = await client.snapshot()
        other = await client.snapshot(group="exchange")
        pairs = [flare.pair for flare in other.flares.pro if isinstance(flare, ExchangeFlare)]
        flares = await client.flares(group="exchange")
        listed = [flare.pair for flare in flares.pro if isinstance(flare, ExchangeFlare)]
        assert listed == pairs
        try:
            await client.flare("no such flare")
        except RequestError as error:
            pro = [asdict(flare) for flare in snapshot.flares.pro]
            print(json.dumps({"cursor": snapshot.cursor, "pro": pro, "pairs": pairs, "rejected": error.status}))


asyncio.run(main(sys.argv[1]))
