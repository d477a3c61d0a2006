# Replaces `websocat -n --protocol PROTOCOL ADDRESS`, with python3-websockets and without
# compression. Prints the subprotocol, and then each message on a line.

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
