import { expect } from "vitest";
import type { Flare, Snapshot } from "../../../../src/base/model/index.ts";
import { type Channel, type EventBody, projectSnapshot } from "../../../../src/base/protocol/index.ts";
import { SseClient } from "../../../support/clients/sse-client.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE, SAMPLE_OUTCOME } from "../../../support/world/samples.ts";
import { EPOCH } from "../../hub/hub-fixture.ts";
import type { Message } from "../../hub/mock-socket.ts";
import { type ConnectionHandle, compressedTest, test } from "./websocket-fixture.ts";

/** The limit of Go's coder/websocket. A longer message ends the connection. */
const MESSAGE_BYTES = 32_768;
/** The limit of Go's bufio.Scanner. */
const LINE_BYTES = 65_536;

const CHANNELS: Channel[] = ["flares.free", "flares.pro", "flares.finished", "newest.bsc"];
const LIMITED = `channels=${CHANNELS}&max_message=${MESSAGE_BYTES}`;

/** Adds flares with explanations to the market: 240 run, 120 of them for a while, and 60 ended. */
async function fill({ head }: ConnectionHandle): Promise<void> {
  const flares = Array.from({ length: 300 }, (_, at): Flare => {
    const token = { ...SAMPLE_FLARE.token, name: "Ünïcode ".repeat(1 + (at % 8)) };
    return { ...SAMPLE_FLARE, id: `00000000-0000-5000-8000-${String(at).padStart(12, "0")}`, token };
  });
  const ended = flares.slice(240).map((flare) => ({ ...flare, finished_trending_at: SAMPLE_EXPLANATION.at }));
  const of = <T>(all: readonly Flare[], value: T) => Object.fromEntries(all.map(({ id }) => [id, value]));
  const { snapshot } = head;
  await head.publish({
    snapshot: {
      ...snapshot,
      flares: { pro: flares.slice(0, 240), free: flares.slice(120, 240), finished_trending: ended },
      explanations: of(flares, SAMPLE_EXPLANATION),
      outcomes: of(ended, SAMPLE_OUTCOME),
    },
    events: [],
  });
}

/** An update of the first flare, as an event. */
function update(): EventBody {
  const id = "00000000-0000-5000-8000-000000000000";
  const data = { op: "set", id, set: { recent_price_change: 1 } } as const;
  return { name: "flare-updated", channel: "flares.pro", observed_at: SAMPLE_EXPLANATION.at, data };
}

type Lists = Record<string, Record<string, unknown>>;

/** Joins the parts and the message that completes them, by the text of W46 alone. */
function join(
  messages: readonly Message[],
  last: string,
): { readonly message: Message; readonly lists: Lists } {
  const at = messages.findLastIndex(({ type }) => type === last);
  const message = messages[at] ?? expect.fail(`no ${last}`);
  const count = Number(message.parts ?? 0);
  const parts = messages.slice(at - count, at);
  expect(parts.map(({ type }) => type)).toEqual(Array(count).fill("part"));
  const lists: Lists = {};
  for (const { snapshot } of [...parts, message]) {
    for (const [resource, named] of Object.entries(snapshot as Lists)) {
      const own = lists[resource] ?? {};
      lists[resource] = own;
      for (const [name, value] of Object.entries(named))
        own[name] = Array.isArray(value)
          ? [...((own[name] as unknown[] | undefined) ?? []), ...value]
          : value;
    }
  }
  return { message, lists };
}

const expected = (snapshot: Snapshot) => JSON.parse(JSON.stringify(projectSnapshot(snapshot, CHANNELS)));

/** A client over server-sent events that fails at a line that is too long. */
async function readLines({ port }: ConnectionHandle, query: string, cursor = "") {
  const url = `http://127.0.0.1:${port}/api/v1/events?${query}`;
  const client = await SseClient.open(url, { "last-event-id": cursor });
  return {
    client,
    /** The messages up to the first of this type. */
    until: async (type: string): Promise<readonly Message[]> => {
      await client.until(() => client.events.some(({ message }) => message.type === type));
      for (const { message } of client.events)
        expect(`data: ${JSON.stringify(message)}`.length).toBeLessThan(LINE_BYTES);
      return client.events.map(({ message }) => message as Message);
    },
  };
}

for (const [kind, run] of [
  ["plain", test],
  ["compressed", compressedTest],
] as const) {
  run(
    `[W46] over ${kind} frames, a client that ends at 32 KiB a message gets 300 flares with explanations at the start, resumes, and gets them at a reset`,
    async ({ makeWire }) => {
      const wire = await makeWire();
      await fill(wire);
      const options = { maxPayload: MESSAGE_BYTES, perMessageDeflate: kind === "compressed" };
      const whole = wire.client(`?channels=${CHANNELS}`, [], options);
      await expect(whole.ended).rejects.toThrow("Max payload size exceeded");
      const client = wire.client(`?${LIMITED}`, [], options);
      await client.answer("subscribed");
      const start = join(client.messages, "subscribed");
      expect(start.lists).toEqual(expected(wire.head.snapshot));
      expect(start.message.parts).toBeGreaterThan(8);
      for (const part of client.messages.filter(({ type }) => type === "part"))
        expect(part).not.toHaveProperty("cursor");
      await wire.publish("list");
      await client.until(() => client.seqs.length === 1);
      client.ws.close();
      await wire.publish("list");
      const resumed = wire.client(`?${LIMITED}&after=${EPOCH}-1`, [], options);
      await resumed.until(() => resumed.seqs.length === 1);
      expect(resumed.messages.map(({ type }) => type)).toEqual(["hello", "subscribed", "event"]);
      const lost = wire.client(`?${LIMITED}&after=other-1`, [], options);
      expect(await lost.answer("subscribed")).toMatchObject({ lost: { reason: "epoch-changed" } });
      expect(join(lost.messages, "subscribed").lists).toEqual(expected(wire.head.snapshot));
    },
  );
}

test("[W46] [S2] over server-sent events, a client that ends at 64 KiB a line gets the same, and no part has an id", async ({
  wire,
}) => {
  await fill(wire);
  const whole = await readLines(wire, `channels=${CHANNELS}`);
  await whole.client.until(() => whole.client.events.length === 2);
  expect(JSON.stringify(whole.client.events[1]?.message).length).toBeGreaterThan(2 * LINE_BYTES);
  whole.client.cut();
  for (const [cursor, event] of [
    ["", "subscribed"],
    ["other-1", "reset"],
  ] as const) {
    const { client, until } = await readLines(wire, LIMITED, cursor);
    const { lists } = join(await until("subscribed"), "subscribed");
    expect(lists).toEqual(expected(wire.head.snapshot));
    const ids = client.events.map((one) => [one.event, one.lastEventId]);
    expect(ids.slice(0, -1)).toEqual(
      ["hello", ...Array(ids.length - 2).fill("part")].map((one) => [one, ""]),
    );
    expect(ids.at(-1)).toEqual([event, `${EPOCH}-0`]);
    client.cut();
  }
});

test("[W46] [W35] in mode latest, the lists that replace a backlog come in parts too", async ({
  makeWire,
}) => {
  const wire = await makeWire({ hub: { limits: { conflateFrom: 5 } } });
  await fill(wire);
  const { head } = wire;
  for (let at = 0; at < 9; at++) await head.publish({ snapshot: head.snapshot, events: [update()] });
  const client = wire.client(`?${LIMITED}&mode=latest&after=${EPOCH}-1`, [], { maxPayload: MESSAGE_BYTES });
  await client.answer("conflated");
  const { message, lists } = join(client.messages, "conflated");
  expect(message.parts).toBeGreaterThan(8);
  const flares = projectSnapshot(head.snapshot, CHANNELS.slice(0, 3));
  expect(lists).toEqual(JSON.parse(JSON.stringify(flares)));
});

test("[W46] lists that fit come in one message, the same as without a limit", async ({ wire }) => {
  await wire.publish("list", "flare");
  const [plain, limited] = ["channels=*", "channels=*&max_message=8192"].map((query) =>
    wire.client(`?${query}`),
  );
  expect(await limited?.answer("subscribed")).toEqual(await plain?.answer("subscribed"));
});

test("[W46] a subscription by command is limited too, and a limit out of bounds is rejected on every transport", async ({
  wire,
}) => {
  await fill(wire);
  const client = wire.client("", [], { maxPayload: MESSAGE_BYTES });
  await client.answer("hello");
  client.send({ type: "subscribe", id: 1, channels: CHANNELS, max_message: MESSAGE_BYTES });
  await client.answer("subscribed", 1);
  expect(join(client.messages, "subscribed").lists).toEqual(expected(wire.head.snapshot));
  client.send({ type: "subscribe", id: 2, channels: ["status"], max_message: 8_191 });
  expect(await client.answer("error", 2)).toMatchObject({ field: "max_message" });
  for (const [path, accept] of [
    ["?max_message=8191", "text/event-stream"],
    ["?max_message=524289", "text/event-stream"],
    ["?max_message=32768", "application/json"],
  ] as const) {
    const { message, body } = await wire.ask(`/api/v1/events${path}`, { accept });
    expect([message.statusCode, JSON.parse(body).field]).toEqual([400, "max_message"]);
  }
});
