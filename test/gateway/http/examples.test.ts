import { once } from "node:events";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { createOpenApi } from "../../../src/extensions/docs/index.ts";
import type { Parameter, ParameterSet } from "../../../src/gateway/http/contract/parameters.ts";
import type { RouteContract } from "../../../src/gateway/http/index.ts";
import { CONTRACTS } from "../../support/expect/contracts.ts";
import { serveExamples } from "./example-server.ts";

test("a server describes exactly its routes", async ({ onTestFinished }) => {
  const url = await serveExamples(onTestFinished);
  const served = await (await fetch(`${url}/openapi.json`)).json();
  expect(served).toEqual(JSON.parse(JSON.stringify(createOpenApi("", CONTRACTS, url))));
});

/** How an answer of these tests ends. */
const ACCEPTED = / (200|204|101)$/;

type Transport = "polls" | "streams";

const textOf = ({ example }: Parameter) => [example].flat().join(",");
const textsOf = (parameters: ParameterSet = {}) =>
  Object.fromEntries(Object.entries(parameters).map(([name, one]) => [name, textOf(one)]));

/** Parameters that the server accepts only beside another one. */
const BESIDES: Readonly<Record<string, string>> = { sticky: "symbols" };

/** Returns the queries to try: none, each parameter alone, and all. */
function queriesOf({ responses, query = {} }: RouteContract, transport: Transport): URLSearchParams[] {
  const isSocket = 101 in responses;
  const names = Object.keys(query).filter(
    (name) => isSocket || (query[name]?.only ?? transport) === transport,
  );
  const texts = Object.entries(textsOf(query));
  return [[], ...names.map((name) => [name]), names].map((some) => {
    const needed = some.flatMap((name) => [name, BESIDES[name] ?? name]);
    // Without it, the other parameters of a stream have nothing to select from.
    if (isSocket && "channels" in query && some.length > 0) needed.push("channels");
    return new URLSearchParams(texts.filter(([name]) => needed.includes(name)));
  });
}

function addressOf({ path, params }: RouteContract): string {
  const texts = textsOf(params);
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(texts[name] ?? ""));
}

async function ask(target: string, contract: RouteContract, transport: Transport): Promise<number> {
  if (101 in contract.responses) {
    const socket = new WebSocket(target.replace("http", "ws"));
    await once(socket, "open");
    socket.terminate();
    return 101;
  }
  const accept = transport === "streams" ? { accept: "text/event-stream" } : {};
  const { status, body } = await fetch(target, { headers: { ...textsOf(contract.headers), ...accept } });
  await body?.cancel();
  return status;
}

/** What a tool that knows only the served documents asks: each list at once. */
interface Asked {
  readonly name: string;
  readonly in: string;
  readonly required?: true;
  readonly schema: { readonly default?: unknown };
  readonly example: unknown;
}

const KINDS: Readonly<Record<string, (parameter: Asked) => unknown>> = {
  examples: ({ example }) => example,
  defaults: ({ in: where, required, example, schema }) =>
    where === "path" || required ? example : schema.default,
};

/** Asks the operation as a tool does, which knows only the served document. Returns the status. */
async function askAsTool(
  base: string,
  [path, method]: readonly [path: string, method: string],
  { parameters = [], responses }: { readonly parameters?: readonly Asked[]; readonly responses: object },
  given: (parameter: Asked) => unknown,
): Promise<string> {
  const valuesIn = (where: string) =>
    parameters.flatMap((one) => {
      const value = one.in === where ? given(one) : undefined;
      return value === undefined ? [] : [[one.name, [value].flat().join(",")] as const];
    });
  const parts = new Map(valuesIn("path"));
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parts.get(name) ?? ""));
  const target = `${base}${filled}?${new URLSearchParams(valuesIn("query").map(([...pair]) => pair))}`;
  if ("101" in responses && method === "get") {
    const socket = new WebSocket(target.replace("http", "ws"));
    await once(socket, "open");
    socket.terminate();
    return `${target} → 101`;
  }
  const { status, body } = await fetch(target, { method, headers: Object.fromEntries(valuesIn("header")) });
  await body?.cancel();
  return `${method} ${target} → ${status}`;
}

for (const [kind, given] of Object.entries(KINDS))
  test(`each operation of /openapi.json works with all of its ${kind}, at the server that the document names`, async ({
    onTestFinished,
  }) => {
    const { servers, paths } = Object(
      await (await fetch(`${await serveExamples(onTestFinished)}/openapi.json`)).json(),
    );
    const answers: string[] = [];
    // A server without keys has no tickets.
    for (const [path, operations] of Object.entries<object>(paths))
      for (const [method, operation] of Object.entries(operations).filter(([name]) => name !== "post"))
        answers.push(await askAsTool(servers[0].url, [path, method], operation, given));
    expect(answers.filter((answer) => !ACCEPTED.test(answer))).toEqual([]);
    expect(answers.length).toBeGreaterThan(60);
  });

test("each stream of /asyncapi.json opens with all of its examples, at the server that the document names", async ({
  onTestFinished,
}) => {
  const url = await serveExamples(onTestFinished);
  const { servers, channels } = Object(await (await fetch(`${url}/asyncapi.json`)).json());
  const examples = ({
    properties,
  }: {
    readonly properties: Readonly<Record<string, { examples: unknown[] }>>;
  }) =>
    new URLSearchParams(
      Object.entries(properties).map(([name, one]) => [name, [one.examples[0]].flat().join(",")]),
    );
  const { stream, events } = channels;
  const socketAt = `${servers.websocket.protocol}://${servers.websocket.host}${stream.address}`;
  const { query, headers } = stream.bindings.ws;
  const extensions = headers.properties["Sec-WebSocket-Extensions"].examples[0];
  const socket = new WebSocket(
    `${socketAt}?${examples(query)}`,
    headers.properties["Sec-WebSocket-Protocol"].const,
    {
      headers: { "Sec-WebSocket-Extensions": extensions },
    },
  );
  const [hello] = await once(socket, "message");
  expect(JSON.parse(String(hello)).type).toBe("hello");
  socket.terminate();
  const eventsAt = `${servers.http.protocol}://${servers.http.host}${events.address}`;
  const { status, body } = await fetch(`${eventsAt}?${examples(events["x-query"])}`, {
    headers: { accept: "text/event-stream" },
  });
  await body?.cancel();
  expect(status).toBe(200);
});

/** Sends a command. Returns the type of the next message that answers one. */
function answerTo(socket: WebSocket, command: unknown): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.on("message", (data) => {
    const { type } = JSON.parse(String(data));
    if (["subscribed", "unsubscribed", "pong", "error"].includes(type)) resolve(type);
  });
  socket.send(JSON.stringify(command));
  return promise;
}

test("each command of /asyncapi.json gets its answer, not an error, with each of its examples", async ({
  onTestFinished,
}) => {
  const url = await serveExamples(onTestFinished);
  const { channels, components } = Object(await (await fetch(`${url}/asyncapi.json`)).json());
  const sent = ({ examples }: { readonly examples: readonly { readonly payload: unknown }[] }) =>
    examples.map(({ payload }) => payload);
  const { subscribe, unsubscribe, ping } = components.messages;
  const [first, ...others] = sent(subscribe);
  const answers: string[] = [];
  // A later subscription can change neither the mode nor the cursor of its connection.
  for (const commands of [[first, ...sent(unsubscribe), ...sent(ping)], ...others.map((one) => [one])]) {
    const socket = new WebSocket(`${url.replace("http", "ws")}${channels.stream.address}`);
    await once(socket, "open");
    for (const command of commands) answers.push(await answerTo(socket, command));
    socket.terminate();
  }
  const expected = ["subscribed", "unsubscribed", "pong", "pong", ...others.map(() => "subscribed")];
  expect(answers).toEqual(expected);
});

test("every example of a parameter works, alone and with the others", async ({ onTestFinished }) => {
  const url = await serveExamples(onTestFinished);
  const tried = CONTRACTS.filter(({ method }) => method === "GET").flatMap((contract) => {
    const transports = contract.name === "events" ? (["polls", "streams"] as const) : (["polls"] as const);
    return transports.flatMap((transport) =>
      queriesOf(contract, transport).map((query) => ({ contract, transport, query })),
    );
  });
  const answers: string[] = [];
  // One after the other, because a connection ends an earlier one of the same client.
  for (const { contract, transport, query } of tried) {
    const target = `${url}${addressOf(contract)}?${query}`;
    answers.push(`${transport} ${target} → ${await ask(target, contract, transport)}`);
  }
  expect(answers.filter((answer) => !ACCEPTED.test(answer))).toEqual([]);
  expect(answers.length).toBeGreaterThan(CONTRACTS.length);
});
