import { expect } from "vitest";
import { test } from "../hub-fixture.ts";
import type { MockSocket } from "../mock-socket.ts";
import type { Step } from "../test-market.ts";

function subscribe(socket: MockSocket, command: object): void {
  socket.session?.receiveText(JSON.stringify({ type: "subscribe", id: "f", channels: ["*"], ...command }));
}

const symbolsOf = (socket: MockSocket) =>
  socket
    .of("event")
    .map(({ data }) => (data as { listing: { token: { symbol: string } } }).listing.token.symbol);

test("[W27] events and the snapshot contain only what the filter selects", async ({ sut }) => {
  const early = sut.open({ channels: ["newest.bsc"], filter: { symbols: ["t1"] } });
  await sut.publish("list", "list", "list", "list");
  expect(symbolsOf(early)).toEqual(["T1", "T1"]);
  const late = sut.open({ channels: ["newest.bsc"], filter: { symbols: ["T1"] } });
  const [answer] = late.of("subscribed");
  const listed = { token: expect.objectContaining({ symbol: "T1" }) };
  expect(answer?.snapshot).toMatchObject({ newest: { bsc: [listed, listed] } });
  await sut.publish("list", "list", "list");
  expect(symbolsOf(late)).toEqual(["T1"]);
});

const REFUSED: readonly (readonly [unknown, string])[] = [
  ["nonsense", "filter"],
  [{ token: ["0xab"] }, "filter.token"],
  [{ tokens: [] }, "filter.tokens"],
  [{ tokens: ["ab"] }, "filter.tokens.0"],
  [{ tokens: new Array(65).fill("0xab") }, "filter.tokens"],
  [{ symbols: [""] }, "filter.symbols.0"],
  [{ symbols: new Array(65).fill("a") }, "filter.symbols"],
  [{ min_liquidity: -1 }, "filter.min_liquidity"],
  [{ min_liquidity: "much" }, "filter.min_liquidity"],
  [{ min_price_change: "5" }, "filter.min_price_change"],
  [{ min_age: -1 }, "filter.min_age"],
  [{ names: ["flare-began"] }, "filter.names.0"],
];

test.for(REFUSED)(
  "[W27] the filter %j is rejected with an error that names the field",
  ([filter, field], { sut }) => {
    const socket = sut.open();
    subscribe(socket, { filter });
    expect(socket.of("error")).toEqual([
      { type: "error", id: "f", code: "invalid-parameter", message: expect.stringContaining(field), field },
    ]);
  },
);

test("[W40] a flare that falls below the threshold is withdrawn, and inserted in full when it reaches the threshold again", async ({
  sut,
}) => {
  const socket = sut.open({ channels: ["flares.pro"], filter: { min_liquidity: 50_000 } });
  expect(socket.of("subscribed")[0]).toMatchObject({ filter: { min_liquidity: 50_000, sticky: false } });
  const steps: Step[] = ["flare", "refresh", "refresh", "refresh", "refresh", "refresh"];
  for (const step of steps) await sut.publish(step);
  // Liquidity in thousands: 51 at first, then 74, 11, 48, 85, 22.
  expect(socket.of("event").map(({ seq, prev, name }) => [seq, prev, name])).toEqual([
    [1, 0, "flare-started"],
    [2, 1, "flare-updated"],
    [3, 2, "flare-withdrawn"],
    [5, 3, "flare-started"],
    [6, 5, "flare-withdrawn"],
  ]);
  expect(socket.of("event")[2]?.data).toMatchObject({ op: "remove", cause: "filtered" });
  expect(socket.of("event")[3]?.data).toMatchObject({ cause: "passed", flare: { liquidity: "85000" } });
});

test("[W28] with sticky, a flare that reaches the threshold later is inserted in full, and stays when it falls below", async ({
  sut,
}) => {
  const filter = { min_liquidity: 80_000, sticky: true };
  const socket = sut.open({ channels: ["flares.pro"], filter });
  const steps: Step[] = ["flare", "refresh", "refresh", "refresh", "refresh", "refresh"];
  for (const step of steps) await sut.publish(step);
  // Liquidity in thousands: 51 at first, then 74, 11, 48, 85, 22.
  const [entered, fell, ...others] = socket.of("event");
  expect(entered).toMatchObject({
    seq: 5,
    name: "flare-started",
    data: { op: "insert", index: 0, cause: "passed" },
  });
  expect(entered?.data).toMatchObject({ flare: { liquidity: "85000" } });
  expect(fell).toMatchObject({
    seq: 6,
    prev: 5,
    name: "flare-updated",
    data: { set: { liquidity: "22000" } },
  });
  expect(others).toEqual([]);
});

test("[W29] with names, only events with these names are sent", async ({ sut }) => {
  const socket = sut.open({ channels: ["*"], filter: { names: ["flare-started", "source-status"] } });
  await sut.publish("list", "flare", "refresh", "status");
  expect(socket.of("event").map(({ name }) => name)).toEqual(["flare-started", "source-status"]);
});

test("[W30] another filter for a subscribed channel is rejected; the same filter, or one for other channels, is accepted", async ({
  sut,
}) => {
  const socket = sut.open({ channels: ["newest.bsc"], filter: { symbols: ["T1"] } });
  subscribe(socket, { id: "other", filter: { symbols: ["T2"] } });
  subscribe(socket, { id: "none" });
  expect(socket.of("error").map(({ id, code, field }) => [id, code, field])).toEqual([
    ["other", "filter-conflict", "filter"],
    ["none", "filter-conflict", "filter"],
  ]);
  subscribe(socket, { id: "same", channels: ["newest.*"], filter: { symbols: ["t1"] } });
  subscribe(socket, { id: "flares", channels: ["flares.pro"], filter: { symbols: ["T2"] } });
  await sut.publish("list", "list", "flare", "flare", "flare");
  expect(socket.of("event").map(({ channel, seq }) => [channel, seq])).toEqual([
    ["newest.bsc", 1],
    ["flares.pro", 5],
  ]);
});

test("[L6] clients with equal filters get the same buffer, in one write per batch", async ({ sut }) => {
  const sockets = [["0x1"], ["0X1"]].map(([start = ""]) =>
    sut.open({ channels: ["newest.bsc"], filter: { tokens: [start.toLowerCase().padEnd(42, "A")] } }),
  );
  const before = sockets.map(({ writes }) => writes.length);
  await sut.publish("list", "list", "list");
  const written = sockets.map(({ writes }, at) => writes.slice(before[at]));
  expect(written.map(({ length }) => length)).toEqual([1, 1]);
  expect(written[0]?.[0]).toBe(written[1]?.[0]);
  expect(sockets[0]?.of("event").map(({ seq, prev }) => [seq, prev])).toEqual([[1, 0]]);
});
