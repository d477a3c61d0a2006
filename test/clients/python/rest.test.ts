import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { hasPython, spawnPython } from "./python-client.ts";

/** Calls methods of the client, and expects the server to reject each request. */
const PROGRAM = `
import asyncio, sys
sys.path.insert(0, "src/clients/python")
from flarewire import Client, RequestError

async def main(url: str) -> None:
    async with Client(url) as client:
        for call in (
            lambda: client.record(),
            lambda: client.record("30d", group="matic", at="T"),
            lambda: client.history(from_="2026-01-31", limit=5),
            lambda: client.candles(at="T"),
            lambda: client.flare("a/b", at="T"),
            lambda: client.token("bsc", "CAKE", at="T"),
        ):
            try:
                await call()
            except RequestError as error:
                assert error.status == 404

asyncio.run(main(sys.argv[1]))`;

/** Prints why each of these addresses and keys is refused. */
const MISUSE = `
import sys
sys.path.insert(0, "src/clients/python")
from flarewire import Client, connect

for url, key in (("https://me:pw@example.org", None), ("https://example.org/@", "a\\nb"), ("https://example.org", "ü")):
    for use in (connect, Client):
        try:
            use(url, key=key)
        except ValueError as error:
            print(error)`;

describe.skipIf(!hasPython)("REST in Python (python3-aiohttp)", () => {
  test("an address with a user, and a key that no header can carry, are refused at once", async () => {
    await using python = spawnPython("-c", MISUSE);
    expect(await python.ended(), python.stderr()).toBe(0);
    const [user, key] = [
      "use an address without a user name and password; the key is a parameter of its own",
      "the key has a character that no header can carry, such as a line break",
    ];
    expect(python.stdout().trim().split("\n")).toEqual([user, user, key, key, key, key]);
  });

  test("the client requests the record of the same window as REST by default, and past states of each resource", async () => {
    const asked: (string | undefined)[] = [];
    const server = createServer((request, response) => {
      asked.push(request.url?.replace("/api/v1/", ""));
      response.writeHead(404).end();
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    try {
      const { port } = server.address() as AddressInfo;
      await using python = spawnPython("-c", PROGRAM, `http://127.0.0.1:${port}`);
      expect(await python.ended(), python.stderr()).toBe(0);
    } finally {
      server.closeAllConnections();
      server.close();
    }
    expect(asked).toEqual([
      `record?window=24h`,
      "record?window=30d&group=matic&at=T",
      "history?from=2026-01-31&limit=5",
      "candles?at=T",
      "flares/a%2Fb?at=T",
      "tokens/bsc/CAKE?at=T",
    ]);
  });
});
