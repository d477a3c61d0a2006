import { once } from "node:events";
import { expect, test } from "vitest";
import { WebSocket } from "ws";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/base/model/index.ts";
import { createOpenApi } from "../../../src/extensions/docs/index.ts";
import { MARKET } from "../../../src/gateway/http/contract/example-market.ts";
import type { Parameter, ParameterSet } from "../../../src/gateway/http/contract/parameters.ts";
import type { RouteContract } from "../../../src/gateway/http/index.ts";
import { createConfig, startGateway } from "../../../src/index.ts";
import { CONTRACTS } from "../../support/expect/contracts.ts";
import { type Finish, newDirectory } from "../../support/servers/edges.ts";
import { ToldSource } from "../../support/world/told-source.ts";

const AT = "2017-11-12T08:24:00Z";

/** The market of the examples, whose token has the symbol of the examples. */
class ExampleMarket extends ToldSource {
  readonly info = { ...MARKET.source, origin: "simulated" } as const;

  run(): void {
    const { flares, newest, charts, leaderboards, explanations, candles } = MARKET;
    const lists = { flares, newest, charts, leaderboards, explanations, candles };
    const text = JSON.stringify({ ...EMPTY_SNAPSHOT, ...lists }).replaceAll('"UNI"', '"CAKE"');
    const snapshot: Snapshot = JSON.parse(text);
    for (const minute of [0, 1, 2]) {
      // The head moves only with a change.
      const pro = snapshot.flares.pro.map((flare) => ({ ...flare, recent_price_change: minute }));
      const observedAtMs = Date.parse(AT) - 30_000 + minute * 60_000;
      this.tell({ observedAtMs, snapshot: { ...snapshot, flares: { ...snapshot.flares, pro } } });
    }
  }
}

/** Starts a gateway with every route. Returns its address once it has the state of {@link AT}. */
async function serve(finish: Finish): Promise<string> {
  const source = new ExampleMarket();
  const data = newDirectory(finish);
  const config = createConfig({ port: 0, drain: "0", logLevel: "silent", metrics: true, data });
  const starting = startGateway(config, { source });
  source.run();
  const gateway = await starting;
  finish(() => gateway.stop());
  await expect.poll(async () => (await fetch(`${gateway.url}/api/v1/flares?at=${AT}`)).status).toBe(200);
  return gateway.url;
}

test("a server describes exactly its routes", async ({ onTestFinished }) => {
  const served = await (await fetch(`${await serve(onTestFinished)}/openapi.json`)).json();
  expect(served).toEqual(JSON.parse(JSON.stringify(createOpenApi("", CONTRACTS))));
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

test("every default of the documents works in a plain request", async ({ onTestFinished }) => {
  const url = await serve(onTestFinished);
  const { paths } = createOpenApi("", CONTRACTS);
  const answers: string[] = [];
  for (const contract of CONTRACTS) {
    for (const { name, schema } of paths[contract.path]?.get?.parameters ?? []) {
      if (schema.default === undefined) continue;
      const needed = 101 in contract.responses && name !== "list" ? { channels: "status" } : {};
      const query = new URLSearchParams({ ...needed, [name]: String(schema.default) });
      const target = `${url}${addressOf(contract)}?${query}`;
      answers.push(`${target} → ${await ask(target, contract, "polls")}`);
    }
  }
  expect(answers.filter((answer) => !ACCEPTED.test(answer))).toEqual([]);
  expect(answers.length).toBeGreaterThan(8);
});

test("every example of a parameter works, alone and with the others", async ({ onTestFinished }) => {
  const url = await serve(onTestFinished);
  const tried = CONTRACTS.filter(({ method }) => method === "GET").flatMap((contract) => {
    const transports = contract.name === "events" ? (["polls", "streams"] as const) : (["polls"] as const);
    return transports.flatMap((transport) =>
      queriesOf(contract, transport).map((query) => ({ contract, transport, query })),
    );
  });
  const answers = await Promise.all(
    tried.map(async ({ contract, transport, query }) => {
      const target = `${url}${addressOf(contract)}?${query}`;
      return `${transport} ${target} → ${await ask(target, contract, transport)}`;
    }),
  );
  expect(answers.filter((answer) => !ACCEPTED.test(answer))).toEqual([]);
  expect(answers.length).toBeGreaterThan(CONTRACTS.length);
});
