import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, test } from "vitest";
import { DEFAULT_WINDOW } from "../../../src/http/history/history-query.ts";
import { hasPython, spawnPython } from "./python-client.ts";

/** Calls methods of the client, and expects the server to reject each request. */
const PROGRAM = `
import asyncio, sys
sys.path.insert(0, "src/client/python")
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

describe.skipIf(!hasPython)("REST in Python (python3-aiohttp)", () => {
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
      `record?window=${DEFAULT_WINDOW}`,
      "record?window=30d&group=matic&at=T",
      "history?from=2026-01-31&limit=5",
      "candles?at=T",
      "flares/a%2Fb?at=T",
      "tokens/bsc/CAKE?at=T",
    ]);
  });
});
