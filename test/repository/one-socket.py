# What `websocat -n --protocol PROTOCOL ADDRESS` does, with python3-websockets: no compression, a line for each message; before them the subprotocol.

import asyncio
import sys

import websockets


async def main() -> None:
    protocol, address = sys.argv[1:]
    async with websockets.connect(address, subprotocols=[protocol], compression=None) as socket:
        print(socket.subprotocol, flush=True)
        async for message in socket:
            print(message, flush=True)


asyncio.run(main())
