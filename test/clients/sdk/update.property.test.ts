import fc from "fast-check";
import { expect } from "vitest";
import type { Selection, Transport } from "../../../src/clients/sdk/index.ts";
import { lawRuns } from "../../support/law-runs.ts";
import { follow, test } from "./stream-kit.ts";

const SELECTIONS = [
  { channels: ["*"], filter: {} },
  { channels: ["newest.*"], filter: {} },
  { channels: ["flares.*", "newest.*"], filter: { symbols: ["T1", "T2"] } },
  { channels: ["*"], filter: { names: ["token-listed", "flare-started"] } },
  { channels: ["flares.pro"], filter: { min_liquidity: 1_000 } },
] as const satisfies readonly Selection[];

const TRANSPORTS = ["websocket", "sse", "poll"] as const satisfies readonly Transport[];

const step = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom("list", "flare", "refresh", "unlist") },
  { weight: 2, arbitrary: fc.constantFrom(...SELECTIONS) },
  { weight: 1, arbitrary: fc.constant("cut") },
);

/** Returns the seqs of the server's events for a selection after a cursor, up to `last`. */
async function seqsOf(url: string, { channels, filter }: Selection, after: string, last: number) {
  const query = new URLSearchParams({
    ...JSON.parse(JSON.stringify({ ...filter, channels })),
    after,
    limit: "1000",
  });
  const response = await fetch(`${url}/api/v1/events?${query}`);
  const { events, more }: { events: { seq: number }[]; more: boolean } = Object(await response.json());
  expect(more).toBe(false);
  return events.map(({ seq }) => seq).filter((seq) => seq <= last);
}

for (const transport of TRANSPORTS) {
  test(`[L3] over ${transport}, while its selection keeps changing, a stream emits each event of the current one once and ends with its lists`, async ({
    makeWire,
    proxyTo,
  }) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 25 }), async (steps) => {
        const wire = await makeWire();
        const url = `http://127.0.0.1:${wire.port}`;
        await wire.publish("list", "list", "flare", "list");
        const proxy = await proxyTo(wire.port);
        let selection: Selection = SELECTIONS[0];
        const { stream, items, until } = follow(proxy.url, { transport, ...selection });
        // The selection in force from each reset on.
        const inForce: Selection[] = [];
        stream.on("reset", () => inForce.push(selection));
        try {
          await until(() => items.length > 0);
          for (const one of [...steps, "list" as const]) {
            if (one === "cut") proxy.cut();
            else if (typeof one === "string") await wire.publish(one);
            else {
              selection = one;
              stream.update(one);
            }
          }
          // The last change causes a reset at the head, since no event follows.
          selection = SELECTIONS[0];
          stream.update(selection);
          const head = wire.head.cursor.seq;
          await until(() => stream.cursor?.endsWith(`-${head}`) === true && inForce.at(-1) === selection);
          const resets = items.flatMap((item, at) => (item.name === "reset" ? [{ item, at }] : []));
          expect(resets.map(({ item }) => item.reason)).toEqual([
            "started",
            ...resets.slice(1).map(() => "changed"),
          ]);
          for (const [index, { item, at }] of resets.entries()) {
            const next = resets[index + 1];
            const last = next ? Number(next.item.cursor.split("-")[1]) : head;
            const emitted = items.slice(at + 1, next?.at).map((event) => ("seq" in event ? event.seq : -1));
            const during = inForce[index] ?? SELECTIONS[0];
            expect(emitted).toEqual(await seqsOf(url, during, item.cursor, last));
          }
          const fresh = follow(url, selection);
          await fresh.until(() => fresh.items.length > 0);
          fresh.stream.close();
          expect(stream.view).toEqual(fresh.stream.view);
        } finally {
          stream.close();
        }
      }),
      lawRuns(4, 8),
    );
  });
}
