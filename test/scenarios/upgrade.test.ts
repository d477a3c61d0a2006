import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliDecompressSync } from "node:zlib";
import { expect, test } from "vitest";
import { storedPath } from "../../src/app/data/file-persistence.ts";
import { identityOf } from "../../src/app/open-source.ts";
import type { HistoryResponse } from "../../src/extensions/history/http/history-routes.ts";
import { createConfig, startGateway } from "../../src/index.ts";
import { IndependentClient } from "../support/clients/independent-client.ts";
import { expectOneState } from "../support/expect/one-state.ts";
import { checkedFetch } from "../support/expect/validate-response.ts";
import { newDirectory } from "../support/servers/edges.ts";

/**
 * Written by `serve --file market.csv --group bsc --speed 240 --log-count 60 --log-age 1s` of
 * commit 9c23a772 (checkpoint version 14), stopped with SIGTERM. It has events 809 to 868, and the
 * starts, finishes and outcomes before them. The last checkpoint is at event 840.
 */
const STORED = "stored-by-14";
const EPOCH = "250ee30820b9d680";
const [OLDEST, HEAD] = [808, 868];

interface Listed {
  readonly seq: number;
  readonly cursor: string;
  readonly name: string;
  readonly data: { readonly flare?: { readonly token: { readonly symbol: string } } };
}

const unpack = (name: string) =>
  brotliDecompressSync(readFileSync(new URL(`${STORED}/${name}.br`, import.meta.url)));

test("[L3] [W39] a gateway resumes the epoch of a copied data directory of an earlier version: its cursors resume in full, and its flare finishes", async ({
  onTestFinished,
}) => {
  const directory = newDirectory(onTestFinished);
  const file = join(directory, "market.csv");
  writeFileSync(file, unpack("market.csv"));
  // Retain all stored events until they are requested, however slow the machine is.
  const log = { logCount: 10_000, logAge: "1h", logFlareAge: "30d" } as const;
  const market = { feed: "replay", file, group: "bsc", speed: 2_000, warmup: "0s" } as const;
  const config = createConfig({
    port: 0,
    logLevel: "silent",
    drain: "0",
    data: directory,
    ...log,
    ...market,
  });
  for (const store of ["events", "history"] as const)
    writeFileSync(
      storedPath({ config, identity: identityOf(config, undefined) }, store),
      unpack(`${store}.sqlite`),
    );
  const gateway = await startGateway(config);
  onTestFinished(() => gateway.stop());

  expect(gateway.head.cursor).toMatchObject({ epoch: EPOCH });
  const after = async (cursor: string, more = "") => {
    const answer = await checkedFetch(`${gateway.url}/api/v1/events?after=${cursor}&limit=1000${more}`);
    const { events = [] } = answer.json as { events?: Listed[] };
    return { status: answer.status, first: events[0]?.cursor, events };
  };
  for (const seq of [OLDEST, 839, 841, HEAD - 1]) {
    const resumed = await after(`${EPOCH}-${seq}`);
    expect(resumed).toMatchObject({ status: 200, first: `${EPOCH}-${seq + 1}` });
  }
  const lasting = await after(`${EPOCH}-1`, "&names=flare-started,flare-finished&channels=flares.pro");
  const names = lasting.events.filter(({ seq }) => seq <= HEAD).map(({ name }) => name);
  expect(names).toEqual([
    "flare-started",
    "flare-finished",
    "flare-started",
    "flare-finished",
    "flare-started",
  ]);
  const history = async (query: string) => {
    const { json } = await checkedFetch(`${gateway.url}/api/v1/history${query}`);
    return (json as HistoryResponse).flares.map(({ started, cause }) => [cause, started?.finish_cause]);
  };
  const stored = (await history("")).slice(-2);
  expect(stored).toEqual([
    ["faded", null],
    ["faded", null],
  ]);
  expect(await history("?group=exchange")).toEqual([]);
  const client = new IndependentClient(gateway.url);
  await client.connect();
  const finished = async () => {
    const finishes = await after(`${EPOCH}-${HEAD}`, "&names=flare-finished&channels=flares.pro");
    return finishes.events[0]?.data.flare?.token.symbol;
  };
  await expect.poll(finished).toBe("PUMP");
  await expectOneState(gateway.url, client);
});
