import { expect } from "vitest";
import type { View } from "../../../src/base/protocol/index.ts";
import type { ClientState } from "../../../src/clients/sdk/client-state.ts";
import { createLatest } from "../../../src/clients/sdk/features/latest.ts";
import type { TransportMessage } from "../../../src/clients/sdk/transport/transport.ts";
import { flareStarted } from "../../app/cli/scripted-server.ts";
import { shownLists } from "../../support/expect/shown-lists.ts";
import { test } from "./stream-kit.ts";

for (const transport of ["websocket", "sse"] as const) {
  test(`[W34] [W35] over ${transport} in mode latest, a client that was away gets the starts and surges it missed, then a reset with the current lists`, async ({
    wire,
    proxyTo,
    start,
  }) => {
    const proxy = await proxyTo(wire.port);
    const { stream, until, items } = start(proxy.url, { transport, mode: "latest" });
    await until(() => items.length === 1);
    const { port } = proxy;
    // The client cannot reconnect until everything is published.
    proxy.port = 1;
    proxy.cut();
    await until(() => stream.connection.state !== "live");
    await wire.publish("list", "flare");
    for (let at = 0; at < 40; at++) await wire.publish("list", at % 10 ? "refresh" : "surge");
    proxy.port = port;
    await until(() => items.at(-1)?.name === "reset" && items.length > 1);
    const missed = items.slice(1, -1);
    expect(new Set(missed.map(({ name }) => name))).toEqual(new Set(["flare-started", "flare-surged"]));
    expect(items.at(-1)).toMatchObject({ reason: "conflated", lost: null });
    expect(stream.cursor).toBe(items.at(-1)?.cursor);
    expect(stream.view).toEqual(shownLists(wire.head.snapshot));
    // From then on every event is delivered again.
    await wire.publish("refresh");
    await until(() => items.at(-1)?.name !== "reset");
    expect(stream.view).toEqual(shownLists(wire.head.snapshot));
  });

  test(`[W35] over ${transport} in mode latest, each start is emitted once, although the connection ends before the lists`, async ({
    wire,
    proxyTo,
    start,
  }) => {
    const proxy = await proxyTo(wire.port);
    const { stream, until, items } = start(proxy.url, { transport, mode: "latest" });
    await until(() => items.length === 1);
    const { port } = proxy;
    proxy.port = 1;
    proxy.cut();
    await until(() => stream.connection.state !== "live");
    for (let at = 0; at < 40; at++) await wire.publish("list", "flare");
    stream.once("flare-started", () => proxy.cut());
    proxy.port = port;
    await until(() => items.at(-1)?.name === "reset" && items.length > 1);
    const seqs = items.flatMap((item) => (item.name === "flare-started" ? [item.seq] : []));
    expect(seqs.length).toBeGreaterThan(1);
    expect(new Set(seqs).size).toBe(seqs.length);
  });
}

test("over long polls mode latest delivers every event", async ({ wire, start }) => {
  const options = { transport: "poll", mode: "latest" } as const;
  const { until, seqs, resets } = start(`http://127.0.0.1:${wire.port}`, options);
  await until(() => resets().length === 1);
  await wire.publish("list", "refresh");
  await until(() => seqs().length === 2);
});

test.for([
  ["flares.exchange.pro", { "flares.exchange": { pro: [] } }, {}],
  ["charts.bsc", { charts: { bsc: [] } }, { one: "an explanation" }],
] as const)(
  "[W35] `conflated` replaces the explanations only if it has flares, here with %s",
  ([channel, lists, explanations]) => {
    const view = { "flares.exchange": { pro: [] }, charts: {}, explanations: { one: "an explanation" } };
    const client = { cursor: "abcd-1", started: true, view: view as unknown as View };
    const snapshot = { explanations: {}, ...lists } as never;
    const channels = [channel];
    const next = createLatest()(client, { type: "conflated", cursor: "abcd-99", channels, snapshot });
    expect(next.client.view).toEqual({ ...view, ...lists, explanations });
  },
);

test("[W35] in each epoch, a missed event is delivered once and conflation replaces the lists", () => {
  const apply = createLatest();
  const missedAt = (seq: number): TransportMessage => {
    const { cursor: _cursor, prev: _prev, ...event } = flareStarted(seq, "A");
    return JSON.parse(JSON.stringify({ ...event, type: "missed" }));
  };
  let client: ClientState = { cursor: undefined, view: undefined, started: false };
  const take = (message: TransportMessage) => {
    const { item, ...next } = apply(client, message);
    client = next.client;
    return item;
  };
  for (const epoch of ["abcd", "efgh", "ijkl"]) {
    const snapshot = { explanations: {}, newest: { bsc: [] } } as never;
    const started = { cursor: `${epoch}-3`, resumed: "reset", snapshot } as const;
    expect(take({ type: "subscribed", ...started })).toMatchObject({ name: "reset" });
    const given = [7, 9, 7, 9, 10].map((seq) => take(missedAt(seq)));
    expect(given.map((item) => item && "seq" in item && item.seq)).toEqual([7, 9, undefined, undefined, 10]);
    expect(given[0]).toMatchObject({ name: "flare-started", cursor: `${epoch}-3`, prev: 0 });
    const reset = take({ type: "conflated", cursor: `${epoch}-90`, channels: [], snapshot });
    expect(reset).toMatchObject({ name: "reset", reason: "conflated", cursor: `${epoch}-90`, lost: null });
    expect(client.cursor).toBe(`${epoch}-90`);
  }
});
