import { expect } from "vitest";
import { SseClient } from "../../../support/clients/sse-client.ts";
import { validateResponse } from "../../../support/expect/validate-response.ts";
import { EPOCH } from "../../hub/hub-fixture.ts";
import type { Step } from "../../hub/test-market.ts";
import { type ConnectionHandle, HANDSHAKE, test } from "./websocket-fixture.ts";

const PATH = "/api/v1/events";
const FILTER = "min_liquidity=50000&tokens=0x1".concat("a".repeat(39));
const STEPS: readonly Step[] = ["list", "flare", "refresh", "list", "refresh", "unlist"];

interface Page {
  readonly cursor: string;
  readonly events: readonly unknown[];
  readonly more: boolean;
}

async function page(wire: ConnectionHandle, query: string): Promise<Page> {
  const { message, body } = await wire.ask(`${PATH}?${query}`, {});
  const seen = { status: message.statusCode ?? 0, headers: message.headers, body: Buffer.from(body) };
  return validateResponse("GET", PATH, seen) as Page;
}

type Message = Readonly<Record<string, unknown>>;
const eventsOf = (messages: readonly Message[]) => messages.filter(({ type }) => type === "event");

test("[W28] [P4] [S2] the same filter selects the same events over WebSocket, SSE and poll", async ({
  wire,
}) => {
  const socket = wire.client(`?channels=*&${FILTER}`);
  await socket.answer("subscribed");
  for (let round = 0; round < 10; round++) await wire.publish(...STEPS);
  await wire.publish("status");
  const all = () => eventsOf(socket.messages);
  await socket.until(() => all().some(({ name }) => name === "source-status"));
  const stream = await SseClient.open(`http://127.0.0.1:${wire.port}${PATH}?${FILTER}&after=${EPOCH}-0`, {});
  await stream.until(() => stream.messages().some(({ name }) => name === "source-status"));
  expect(all().length).toBeLessThan(50);
  expect(eventsOf(stream.messages())).toEqual(all());
  const paged: unknown[] = [];
  let from = `${EPOCH}-0`;
  for (let more = true; more; ) {
    const answer = await page(wire, `${FILTER}&after=${from}&limit=7`);
    // prev is not compared, because each page begins a new chain.
    paged.push(...answer.events.map((event) => ({ ...(event as object), prev: null })));
    ({ cursor: from, more } = answer);
  }
  expect(paged).toEqual(all().map((event) => ({ ...event, prev: null })));
  stream.cut();
});

test("[P5] a filtered request waits past events that do not match, and returns the first that does", async ({
  wire,
}) => {
  await wire.publish(...STEPS);
  const answer = page(wire, `names=source-status&after=${EPOCH}-6&wait=60`);
  await wire.publish("list");
  await wire.publish("unlist");
  await wire.publish("status");
  expect(await answer).toMatchObject({
    cursor: `${EPOCH}-9`,
    events: [{ name: "source-status", prev: 6 }],
    more: false,
  });
});

/** The three ways to request events. */
const WAYS: readonly (readonly [path: string, headers: Record<string, string>])[] = [
  ["/api/v1/stream", HANDSHAKE],
  [PATH, { accept: "text/event-stream" }],
  [PATH, {}],
];

test("[W6] [P7] [S2] a mistyped filter is rejected with the nearest name over WebSocket, SSE and poll, and never ignored", async ({
  wire,
}) => {
  const typos = { min_pricechange: "min_price_change", Channels: "channels", token: "tokens" };
  for (const [path, headers] of WAYS) {
    for (const [typo, meant] of Object.entries(typos)) {
      const { message, body } = await wire.ask(`${path}?channels=*&${typo}=5`, headers);
      expect(message.statusCode, `${path} ${typo}`).toBe(400);
      expect(JSON.parse(body)).toMatchObject({
        type: "urn:flarewire:problem:invalid-parameter",
        field: typo,
        detail: expect.stringContaining(`(did you mean ${meant}?)`),
      });
    }
  }
  for (const parameter of ["limit=5", "wait=5", "mirror=true"]) {
    const { message } = await wire.ask(`${PATH}?${parameter}`, { accept: "text/event-stream" });
    expect(message.statusCode, parameter).toBe(400);
  }
});

test("[W3] [P7] [S2] a query that is not percent-encoded UTF-8 is rejected over WebSocket, SSE and poll, and a valid one is not", async ({
  wire,
}) => {
  for (const [path, headers] of WAYS) {
    for (const value of ["%ff%zz", "%", "a%2", "%C3%28", "%c0%af", "ok&tokens=%zz", "ok&%=1"]) {
      const { message, body } = await wire.ask(`${path}?channels=*&symbols=${value}`, headers);
      expect([message.statusCode, path, value]).toEqual([400, path, value]);
      expect(JSON.parse(body)).toMatchObject({ type: "urn:flarewire:problem:invalid-parameter" });
    }
  }
  const { body } = await wire.ask(`${PATH}?names=source-status&symbols=%ff%zz`);
  expect(JSON.parse(body)).toMatchObject({
    field: "symbols",
    detail: expect.stringMatching(/^symbols has an invalid percent escape; .*"%25"/),
  });
  expect(await page(wire, "symbols=100%25,%F0%9F%94%A5,a+b")).toMatchObject({
    filter: { symbols: ["100%", "a b", "🔥"] },
  });
});

test("[W27] the filter in force is in the response over WebSocket, SSE and poll, and absent without a filter", async ({
  wire,
}) => {
  const filterQuery = "symbols=T1,t0,T0&min_liquidity=50000.50&names=source-status";
  const filter = { symbols: ["t0", "t1"], min_liquidity: 50_000.5, names: ["source-status"] };
  const socket = wire.client(`?channels=*&${filterQuery}`);
  expect(await socket.answer("subscribed")).toMatchObject({ filter });
  const stream = await SseClient.open(`http://127.0.0.1:${wire.port}${PATH}?${filterQuery}`, {});
  await stream.until(() => stream.messages().some(({ type }) => type === "subscribed"));
  expect(stream.messages().find(({ type }) => type === "subscribed")).toMatchObject({ filter });
  stream.cut();
  expect(await page(wire, filterQuery)).toMatchObject({ filter });
  expect(await page(wire, `${filterQuery}&after=${EPOCH}-0`)).toMatchObject({ filter });
  expect(await page(wire, "")).not.toHaveProperty("filter");
  const bare = wire.client("?channels=*");
  expect(await bare.answer("subscribed")).not.toHaveProperty("filter");
});

test("[P7] a mistyped value is rejected with the nearest name, and mode with a note that only streams have it", async ({
  wire,
}) => {
  const refusals = {
    "channels=flare.pro": "(did you mean flares.pro?)",
    "channels=chart.bsc": "(did you mean charts.bsc?)",
    "channels=flares.polygon.pro": "(did you mean flares.matic.pro?)",
    "channels=charts.polygon": "(did you mean charts.matic?)",
    "names=flare-start": "(did you mean flare-started?)",
    [`names=${Array(40).fill("flare-started")}`]: "it must be a list of 1 to ",
    [`channels=${Array(65).fill("newest.bsc")}`]: "channels has 65 names; it must have at most 64 names",
    "min_price=5": "(did you mean min_price_change?)",
    "mode=latest": "left out: only streams have modes",
    "sticky=true": "omitted without tokens, symbols, min_liquidity, min_price_change, min_age, min_locked",
  };
  for (const [query, words] of Object.entries(refusals)) {
    const { message, body } = await wire.ask(`${PATH}?${query}`);
    expect(message.statusCode, query).toBe(400);
    expect(JSON.parse(body).detail, query).toContain(words);
  }
  const { body } = await wire.ask(`${PATH}?tickers=PEPE`);
  expect(JSON.parse(body).detail).toContain('unknown parameter "tickers"; known: ');
});

test("a stream that asks for the oldest events, or those after a time, learns that these are for long polls", async ({
  wire,
}) => {
  for (const after of ["oldest", "2026-01-31T12:00:00Z"]) {
    const { message, body } = await wire.ask(`${PATH}?after=${after}`, { accept: "text/event-stream" });
    expect(message.statusCode).toBe(400);
    expect(JSON.parse(body).detail).toBe(
      `after is "${after}"; it must be a cursor from this server; long polls, which return JSON, also take "oldest" and times with Z`,
    );
  }
});

test("[P7] a poll rejects an unknown filter and a mode, and replaces no connection", async ({ wire }) => {
  for (const query of [
    "filter=x",
    "mode=latest",
    "mode=events",
    "client=bot-7f3a9c",
    "tokens=ab",
    "min_liquidity=much",
  ]) {
    const { message } = await wire.ask(`${PATH}?${query}`, {});
    expect(message.statusCode, query).toBe(400);
  }
});

test("[P7] numbers may have an exponent, with which languages write small and large ones", async ({
  wire,
}) => {
  const statusOf = async (query: string) =>
    (await wire.ask(`${PATH}?channels=flares.pro&${query}`, {})).message.statusCode;
  for (const value of [String(1e-7), "1e-07", encodeURIComponent(String(-1e21)), "2.5E2"])
    expect(await statusOf(`min_price_change=${value}`), value).toBe(200);
  for (const value of ["1e", "e5", "1e999", "0x10"]) {
    expect(await statusOf(`min_price_change=${value}`), value).toBe(400);
    expect(await statusOf(`min_liquidity=${value}`), value).toBe(400);
  }
  expect(await statusOf(`min_liquidity=${encodeURIComponent(String(1e21))}`)).toBe(200);
});

test("[P7] an invalid value in a filter is rejected with the values that are valid", async ({ wire }) => {
  for (const [query, bound] of [
    ["tokens=", "an address, 0x and hexadecimal digits, or base58"],
    [`tokens=0x${"a".repeat(130)}`, "at most 130 characters"],
    ["symbols=", "a text of 1 to 64 characters"],
    [`symbols=${"A,".repeat(64)}A`, "a list of 1 to 64"],
    ["min_liquidity=-1", "from 0 on"],
  ]) {
    const { message, body } = await wire.ask(`${PATH}?${query}`, {});
    expect(message.statusCode, query).toBe(400);
    expect(JSON.parse(body)).toMatchObject({
      bound,
      detail: expect.stringContaining(`it must be ${bound}`),
    });
  }
});

test("[W34] [W35] [S3] a stream in mode latest sends missed events without an id, and the lists with the cursor", async ({
  wire,
}) => {
  const BURST = Array.from({ length: 100 }, (_, at): Step => (at % 10 ? "list" : "status"));
  await wire.publish(...BURST);
  const query = `channels=newest.bsc,status&mode=latest&after=${EPOCH}-0`;
  const stream = await SseClient.open(`http://127.0.0.1:${wire.port}${PATH}?${query}`, {});
  await stream.until(() => stream.events.some(({ event }) => event === "conflated"));
  const reported = stream.events.filter(({ event }) => event !== "hello" && event !== "subscribed");
  expect(reported.map(({ event }) => event)).toEqual([...Array(10).fill("missed"), "conflated"]);
  expect(new Set(reported.slice(0, -1).map(({ lastEventId }) => lastEventId))).toEqual(
    new Set([`${EPOCH}-0`]),
  );
  expect(reported.at(-1)?.lastEventId).toBe(`${EPOCH}-100`);
  await wire.publish("list");
  await stream.until(() => stream.messages("token-listed").length === 1);
  expect(stream.messages("token-listed")).toMatchObject([{ seq: 101, prev: 100 }]);
  stream.cut();
});
