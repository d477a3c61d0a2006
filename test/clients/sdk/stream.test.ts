import { expect, expectTypeOf } from "vitest";
import { WebSocket as WsWebSocket } from "ws";
import {
  type AnyFlare,
  type ChainFlare,
  connect,
  type ExchangeFlare,
  type Flare,
  type FlareStarted,
  type FlareSurged,
  type Platform,
  type SocketClass,
  type Stream,
  type Transport,
} from "../../../src/clients/sdk/index.ts";
import type { ConnectionHandle } from "../../gateway/http/stream/websocket-fixture.ts";
import { EPOCH } from "../../gateway/hub/hub-fixture.ts";
import { shownLists } from "../../support/expect/shown-lists.ts";
import { HASTY, range, test } from "./stream-kit.ts";

const TRANSPORTS: readonly Transport[] = ["websocket", "sse", "poll"];
const urlOf = (wire: ConnectionHandle) => `http://127.0.0.1:${wire.port}`;
const restOf = (wire: ConnectionHandle) => shownLists(wire.head.snapshot);

for (const transport of TRANSPORTS) {
  test(`[L2] [L3] over ${transport} the view equals the server's lists, also after a cut, without gaps or repeats`, async ({
    wire,
    proxyTo,
    start,
  }) => {
    await wire.publish("list", "list", "flare");
    const proxy = await proxyTo(wire.port);
    const { stream, until, seqs, items } = start(proxy.url, { transport });
    await until(() => stream.connection.state === "live");
    expect(stream.view).toEqual(restOf(wire));
    await wire.publish("refresh", "list");
    await until(() => seqs().length === 2);
    proxy.cut();
    await wire.publish("unlist", "flare");
    await until(() => seqs().length === 4);
    await wire.publish("refresh");
    await until(() => seqs().length === 5);
    expect(stream.view).toEqual(restOf(wire));
    expect([seqs(), items.filter(({ name }) => name === "reset").length]).toEqual([range(4, 8), 1]);
    expect(stream.connection).toEqual({ state: "live", transport, reason: "" });
  });

  test(`[L3] over ${transport} a cursor that cannot be resumed leads to a reset with the number of lost events`, async ({
    makeWire,
    proxyTo,
    start,
  }) => {
    const wire = await makeWire({ log: { minCount: 3, maxAgeMs: 0 } });
    const proxy = await proxyTo(wire.port);
    const { stream, until, items } = start(proxy.url, { transport });
    await until(() => items.length === 1);
    expect(items[0]).toMatchObject({ name: "reset", reason: "started", lost: 0, cursor: `${EPOCH}-0` });
    const { port } = proxy;
    // The client cannot reconnect until everything is published.
    proxy.port = 1;
    proxy.cut();
    for (let at = 0; at < 3; at++) {
      wire.clock.advance(10);
      await wire.publish("list", "flare", "list", "refresh");
    }
    proxy.port = port;
    await until(() => items.length === 2);
    expect(items[1]).toMatchObject({ name: "reset", reason: "expired", lost: 12, cursor: `${EPOCH}-12` });
    expect(stream.view).toEqual(restOf(wire));
  });

  test(`[W28] [P12] over ${transport} a filter selects events, and the view equals that of a new stream with this filter`, async ({
    wire,
    start,
  }) => {
    await wire.publish("list", "list", "flare", "list");
    const filter = { symbols: ["T1"], min_liquidity: 1_000 };
    const channels = ["newest.*", "flares.pro"];
    const { stream, until, seqs } = start(urlOf(wire), { transport, filter, channels });
    await until(() => stream.view !== undefined);
    for (let at = 0; at < 20; at++) await wire.publish("list", "refresh", "unlist", "flare");
    do await wire.publish("list");
    while (wire.market.snapshot.newest.bsc[0]?.token.symbol !== "T1");
    await until(() => seqs().at(-1) === wire.head.cursor.seq);
    expect(seqs().length).toBeGreaterThan(10);
    expect(seqs().length).toBeLessThan(60);
    const fresh = start(urlOf(wire), { filter, channels });
    await fresh.until(() => fresh.stream.view !== undefined);
    expect(stream.view).toEqual(fresh.stream.view);
    expect(stream.view?.newest?.bsc?.every(({ token }) => token.symbol === "T1")).toBe(true);
  });
}

test("[W45] a surge is emitted under its name, with the whole flare, and the view has its fields and explanation", async ({
  wire,
  start,
}) => {
  await wire.publish("flare");
  const { stream, until, seqs } = start(urlOf(wire));
  await until(() => stream.connection.state === "live");
  const surges: FlareSurged[] = [];
  stream.on("flare-surged", (event) => surges.push(event));
  await wire.publish("surge", "surge");
  await until(() => seqs().length === 2);
  expect(stream.view).toEqual(restOf(wire));
  const [flare] = wire.market.snapshot.flares.pro;
  const why = wire.market.snapshot.explanations[flare?.id ?? ""];
  expect(surges.map(({ data }) => data.surge.number)).toEqual([2, 3]);
  expect(surges[1]?.data).toMatchObject({ op: "set", flare, why, surge: why?.surge });
  expectTypeOf(surges[1]?.data.flare).toEqualTypeOf<Flare | undefined>();
});

test("behind a proxy that opens WebSockets but forwards no message, the stream uses SSE until messages pass", async ({
  wire,
  proxyTo,
  start,
}) => {
  const proxy = await proxyTo(wire.port);
  proxy.passing = "no-websocket-messages";
  const { stream, until, seqs } = start(proxy.url, { upgradeAfterMs: 5_000, firstMessageMs: 50_000 });
  await until(() => stream.connection.state === "live");
  expect(stream.connection.transport).toBe("sse");
  await wire.publish("list", "list");
  await until(() => seqs().length === 2);
  // A failed upgrade delays no event: the old connection continues meanwhile.
  await until(() => stream.connection.transport === "websocket");
  for (let at = 0; at < 3; at++) {
    await wire.publish("refresh");
    await until(() => seqs().length === wire.head.cursor.seq);
  }
  expect(stream.connection.state).toBe("connecting");
  proxy.passing = "all";
  await until(() => stream.connection.transport === "websocket" && stream.connection.state === "live");
  await wire.publish("list", "flare");
  await until(() => seqs().length === wire.head.cursor.seq);
  expect(seqs()).toEqual(range(1, wire.head.cursor.seq));
  expect(stream.view).toEqual(restOf(wire));
});

test("behind a proxy that forwards no stream, the client polls, and upgrades to SSE once that passes", async ({
  wire,
  proxyTo,
  start,
}) => {
  const proxy = await proxyTo(wire.port);
  proxy.passing = "no-streams";
  const { stream, until, seqs } = start(proxy.url, { upgradeAfterMs: 2_000, firstMessageMs: 4_000 });
  await until(() => stream.connection.state === "live");
  expect(stream.connection.transport).toBe("poll");
  await wire.publish("list");
  await until(() => seqs().length === 1);
  proxy.passing = "no-websocket-messages";
  await until(() => stream.connection.transport === "sse" && stream.connection.state === "live");
  await wire.publish("list");
  await until(() => seqs().length === 2);
  expect(seqs()).toEqual([1, 2]);
});

test("[W17] a silent connection is dropped, and the stream resumes with its cursor", async ({
  makeWire,
  proxyTo,
  start,
}) => {
  const wire = await makeWire({ hub: { silenceLimitMs: 20_000 } });
  const proxy = await proxyTo(wire.port);
  const { stream, until, seqs } = start(proxy.url, { transport: "websocket" });
  await wire.publish("list");
  // Only a stream with a cursor can resume.
  await until(() => stream.view !== undefined);
  wire.clock.advance(15_000);
  proxy.freeze();
  await wire.publish("list", "list");
  await until(() => seqs().at(-1) === 3);
  expect(proxy.asked.websocket).toBeGreaterThan(1);
});

test("[W17] the silence limit of a WebSocket does not apply to the polls that follow it", async ({
  makeWire,
  proxyTo,
  start,
}) => {
  const wire = await makeWire({ hub: { silenceLimitMs: 5_000 } });
  const proxy = await proxyTo(wire.port);
  const delaysMs = new Set<number>();
  // On a busy machine, a hasty client would give up the WebSocket before it opens.
  let pace = 1_000;
  const after: Platform["after"] = (ms, fn) => {
    delaysMs.add(ms);
    return HASTY.after(pace * ms, fn);
  };
  const { stream, until, seqs } = start(proxy.url, { platform: { ...HASTY, after } });
  await until(() => stream.connection.state === "live");
  pace = 1;
  expect(delaysMs).toContain(5_000);
  expect(delaysMs).not.toContain(35_000);
  proxy.passing = "no-streams";
  proxy.cut();
  await until(() => stream.connection.transport === "poll" && stream.connection.state === "live");
  await wire.publish("list");
  await until(() => seqs().length === 1);
  expect(delaysMs).toContain(35_000);
});

test("a rejection by the server ends the stream with the server's reason, over every transport", async ({
  wire,
}) => {
  for (const transport of ["auto", ...TRANSPORTS] as const) {
    const options = { transport, platform: HASTY };
    const read = async (stream: AsyncIterable<unknown>) => {
      for await (const _item of stream);
    };
    await expect(read(connect(urlOf(wire), { ...options, channels: ["flares.gold"] }))).rejects.toThrow(
      /refused the stream: HTTP 400 .*flares\.gold.*change the request/,
    );
    await expect(read(connect(urlOf(wire), { ...options, filter: { min_liquidity: -5 } }))).rejects.toThrow(
      /min_liquidity.*-5.*0/,
    );
    await expect(read(connect(urlOf(wire), { ...options, after: "nonsense" }))).rejects.toThrow(
      /after.*nonsense/,
    );
  }
});

test("the ws package works in place of the runtime's own WebSocket", async ({ wire, start }) => {
  const WebSocket = WsWebSocket as unknown as SocketClass;
  const { stream, until, seqs } = start(urlOf(wire), {
    platform: { ...HASTY, WebSocket },
    transport: "websocket",
  });
  await until(() => stream.connection.state === "live");
  await wire.publish("list");
  await until(() => seqs().length === 1);
});

test("the name of an event narrows the type of its data, and the data age grows with the clock", async ({
  wire,
  start,
}) => {
  let nowMs = 1_000;
  // No timer fires: a new connection would report another age.
  const platform = { now: () => nowMs, after: () => () => undefined };
  const { stream, until, seqs } = start(urlOf(wire), { platform });
  const symbols: string[] = [];
  const symbolOf = ({ token }: Flare) => token.symbol;
  const note = ({ data }: FlareStarted) => symbols.push(symbolOf(data.flare));
  stream.on("flare-started", note);
  await until(() => stream.connection.state === "live");
  await wire.publish("flare");
  await until(() => seqs().length === 1);
  expect(symbols).toEqual([expect.stringMatching(/^T\d$/)]);
  nowMs += 500;
  expect(stream.freshness).toEqual({
    state: "live",
    reason: "",
    ageMs: 512,
    observedAt: "2017-11-12T08:36:00.000Z",
  });
});

test("the channels determine the type of flares: that of bsc unless a channel names another group", () => {
  const url = "http://127.0.0.1";
  const flareOf = <F extends AnyFlare>(_open: () => Stream<F>) => expectTypeOf<F>();
  flareOf(() => connect(url)).toEqualTypeOf<Flare>();
  flareOf(() => connect(url, { channels: ["*", "flares.pro", "charts.*"] })).toEqualTypeOf<Flare>();
  flareOf(() => connect(url, { channels: ["status"] })).toEqualTypeOf<Flare>();
  flareOf(() => connect(url, { channels: "flares.pro".split(",") })).toEqualTypeOf<Flare>();
  flareOf(() => connect(url, { channels: ["flares.matic.*"] })).toEqualTypeOf<ChainFlare>();
  const exchange = () => connect(url, { channels: ["flares.exchange.pro", "charts.exchange"] });
  flareOf(exchange).toEqualTypeOf<ExchangeFlare>();
  const both = () => connect(url, { channels: ["flares.*", "flares.exchange.*"] });
  flareOf(both).toEqualTypeOf<Flare | ExchangeFlare>();
});
