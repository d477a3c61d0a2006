import { Parser } from "@asyncapi/parser";
import { expect, test } from "vitest";
import {
  actionAfter,
  CHANNELS,
  CLOSE_CODES,
  Command,
  EVENT_NAMES,
  ServerMessage,
} from "../../../../src/base/protocol/index.ts";
import { createAsyncApi } from "../../../../src/extensions/docs/index.ts";
import { checkMessage } from "../../../support/expect/contract.ts";
import { shareOf } from "../../../support/law-runs.ts";
import { danglingRefs } from "./dangling-refs.ts";

const ASYNCAPI = createAsyncApi("");
const parser = new Parser();
const COMMANDS: readonly string[] = Command.options.map(({ shape }) => shape.type.value);

/** Returns the official parser's errors, without its recommendations. */
async function faults(document: object): Promise<readonly string[]> {
  const { document: parsed, diagnostics } = await parser.parse(JSON.stringify(document));
  const found = diagnostics.filter(({ code }) => code !== "asyncapi-latest-version");
  const reported = found.map(({ code, path, message }) => `${path.join("/")}: ${code}, ${message}`);
  return parsed ? reported : ["not parsed", ...reported];
}

type Refs = readonly { readonly $ref: string }[];
interface Shortened {
  readonly components: { messages: object };
  readonly channels: Readonly<Record<string, { messages: object }>>;
  readonly operations: Readonly<
    Record<string, { messages: Refs; readonly reply?: { readonly messages: Refs } }>
  >;
}

/** Returns the document with only some messages in `npm test`, because the parser is slow. */
function shorten(document: object): Shortened {
  const shortened: Shortened = JSON.parse(JSON.stringify(document));
  const { components, channels, operations } = shortened;
  const nameOf = ({ $ref }: Refs[number]) => $ref.split("/").at(-1) ?? "";
  const replies = Object.values(operations).flatMap(({ reply }) => reply?.messages.map(nameOf) ?? []);
  const held = new Set([...shareOf(Object.keys(components.messages)), ...replies]);
  const ofHeld = (all: object) => Object.fromEntries(Object.entries(all).filter(([name]) => held.has(name)));
  for (const one of [components, ...Object.values(channels)]) one.messages = ofHeld(one.messages);
  for (const one of Object.values(operations))
    one.messages = one.messages.filter((ref) => held.has(nameOf(ref)));
  return shortened;
}

test("the document passes the official parser, below a base path", async () => {
  expect(await faults(shorten(createAsyncApi("/fw/a")))).toEqual([]);
});

test("the parser detects an error", async () => {
  const operations = { tell: { action: "send", channel: { $ref: "#/channels/nowhere" } } };
  const { asyncapi, info } = ASYNCAPI;
  expect((await faults({ asyncapi, info, operations })).join()).toContain("operations/tell");
});

test("every reference resolves", () => {
  expect(danglingRefs(ASYNCAPI)).toEqual([]);
});

test("it has exactly the messages of the code, each in its direction", () => {
  const server = Object.keys(ASYNCAPI.components.messages).filter((name) => !COMMANDS.includes(name));
  const types = ServerMessage.options.map((option) =>
    "shape" in option ? option.shape.type.value : option.def.left.shape.type.value,
  );
  const others: readonly string[] = types.filter((type) => type !== "event");
  expect(server.toSorted()).toEqual([...new Set([...others, "close", ...EVENT_NAMES])].toSorted());
  const { stream, events } = ASYNCAPI.channels;
  expect(Object.keys(stream.messages).toSorted()).toEqual(
    [...server.filter((name) => name !== "close"), ...COMMANDS].toSorted(),
  );
  expect(Object.keys(events.messages).filter((name) => COMMANDS.includes(name))).toEqual([]);
  const operations = JSON.stringify(ASYNCAPI.operations);
  for (const name of Object.keys(stream.messages))
    expect(operations).toContain(`"#/channels/stream/messages/${name}"`);
});

test("every example matches its schema, without extra fields", () => {
  for (const [name, { examples }] of Object.entries(ASYNCAPI.components.messages)) {
    expect(examples.length, name).toBeGreaterThan(0);
    for (const { payload } of examples) checkMessage(payload, COMMANDS.includes(name) ? "client" : "server");
  }
});

test("[K1] [K4] each server accepts a key in a header, or a ticket in the URL", () => {
  const { servers, components } = JSON.parse(JSON.stringify(ASYNCAPI));
  for (const { security } of Object.values<{ security: { $ref: string }[] }>(servers)) {
    expect(security.map(({ $ref }) => $ref)).toEqual(
      Object.keys(components.securitySchemes).map((name) => `#/components/securitySchemes/${name}`),
    );
  }
  expect(components.securitySchemes).toMatchObject({
    key: { type: "http", scheme: "bearer" },
    ticket: { type: "httpApiKey", in: "query", name: "ticket" },
  });
  for (const { address, bindings, ...rest } of Object.values(ASYNCAPI.channels))
    expect(JSON.stringify([bindings, rest["x-query"]]), address).toContain('"ticket":');
});

test("its close codes equal those of the code, each in the range of its action", () => {
  const reported = ASYNCAPI["x-close-codes"].map(({ reason, ...rest }) => [reason, rest]);
  expect(Object.fromEntries(reported)).toEqual(CLOSE_CODES);
  for (const { code, action } of ASYNCAPI["x-close-codes"]) expect(actionAfter(code)).toBe(action);
});

test("it lists every channel with its events", () => {
  expect(Object.keys(ASYNCAPI["x-channels"])).toEqual(CHANNELS);
  expect(new Set(Object.values(ASYNCAPI["x-channels"]).flat())).toEqual(new Set(EVENT_NAMES));
});

test("the tests' validator rejects an invalid message", () => {
  const { payload } = ASYNCAPI.components.messages.pong?.examples[0] ?? {};
  const pong = payload as Record<string, unknown>;
  checkMessage(pong);
  for (const wrong of [
    { ...pong, more: 1 },
    { ...pong, server_time: "now" },
    { type: "pang" },
    undefined,
    { type: "ping" },
  ]) {
    expect(() => checkMessage(wrong)).toThrow();
  }
  const started = ASYNCAPI.components.messages["flare-started"]?.examples[0]?.payload as Record<
    string,
    unknown
  >;
  expect(() => checkMessage({ ...started, channel: "flares.finished" })).toThrow("has no event");
});
