import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Ajv } from "ajv";
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
import { IS_SOAK } from "../../../support/law-runs.ts";
import { fetchedPackage } from "../../../support/setup/fetched-package.ts";
import { danglingRefs } from "./dangling-refs.ts";

const ASYNCAPI = createAsyncApi("");
const COMMANDS: readonly string[] = Command.options.map(({ shape }) => shape.type.value);

const BROKEN = {
  ...ASYNCAPI,
  operations: { tell: { action: "send", channel: { $ref: "#/channels/nowhere" } }, say: { action: "tell" } },
};

/** Returns the errors of the official schema. */
function schemaFaults(folder: string, document: object): readonly string[] {
  const schema = JSON.parse(readFileSync(join(folder, "schemas/3.0.0.json"), "utf8"));
  // The schema contains a copy of its meta-schema, which the validator must not load a second time.
  const ajv = new Ajv({ meta: false, validateSchema: false, strict: false, validateFormats: false });
  const isValid = ajv.compile(schema);
  isValid(JSON.parse(JSON.stringify(document)));
  return (isValid.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`);
}

test("the document matches the official schema, below a base path", ({ skip }) => {
  const folder = fetchedPackage("@asyncapi/specs", "6.11.1");
  if (folder === undefined) return skip("npm cannot fetch @asyncapi/specs");
  expect(schemaFaults(folder, createAsyncApi("/fw/a"))).toEqual([]);
  expect(schemaFaults(folder, BROKEN).join()).toContain("/operations/say");
});

/** Returns the official parser's errors, without its recommendations. */
async function parserFaults(folder: string, document: object): Promise<readonly string[]> {
  const { Parser } = createRequire(import.meta.url)(folder);
  const { document: parsed, diagnostics } = await new Parser().parse(JSON.stringify(document));
  type Diagnostic = Readonly<{ code: string; path: readonly string[]; message: string }>;
  const found = (diagnostics as readonly Diagnostic[]).filter(
    ({ code }) => code !== "asyncapi-latest-version",
  );
  const reported = found.map(({ code, path, message }) => `${path.join("/")}: ${code}, ${message}`);
  return parsed ? reported : ["not parsed", ...reported];
}

test.skipIf(!IS_SOAK)("the document passes the official parser, below a base path", async ({ skip }) => {
  const folder = fetchedPackage("@asyncapi/parser", "3.6.3");
  if (folder === undefined) return skip("npm cannot fetch @asyncapi/parser");
  expect(await parserFaults(folder, createAsyncApi("/fw/a"))).toEqual([]);
  expect((await parserFaults(folder, BROKEN)).join()).toContain("operations/tell");
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
