import { readFileSync } from "node:fs";
import { test as base, expect } from "vitest";
import { eventually } from "../support/time/waiters.ts";
import { IntegrationPackage } from "./integration-package.ts";
import { type LedGateway, startLedGateway } from "./led-gateway.ts";

interface Item {
  readonly event: string;
  readonly flare: { readonly token: { readonly symbol: string } };
  readonly why: string | null;
}
interface Response {
  closeFunction(): Promise<void>;
}
interface Trigger {
  readonly description: { readonly name: string; readonly credentials: readonly { readonly name: string }[] };
  trigger(this: Functions): Promise<Response>;
}
interface Loaded {
  readonly FlarewireTrigger: new () => Trigger;
  readonly FlarewireApi: new () => { readonly name: string };
}

/** Stands in for n8n's ITriggerFunctions. The static data outlives it, because n8n stores it. */
class Functions {
  readonly items: Item[] = [];
  readonly problems: string[] = [];
  readonly logger = { warn: (text: string) => void this.problems.push(text) };
  readonly helpers = { returnJsonArray: (items: readonly Item[]) => items.map((json) => ({ json })) };
  readonly #url: string;
  readonly #data: object;
  readonly #mode: string;
  readonly #event: string;

  constructor(url: string, data: object, mode = "trigger", event = "flare-started") {
    this.#url = url;
    this.#data = data;
    this.#mode = mode;
    this.#event = event;
  }

  getCredentials = async () => ({ url: this.#url, key: "" });
  getNodeParameter = (name: string) => (name === "event" ? this.#event : "flares.pro");
  getWorkflowStaticData = () => this.#data;
  getMode = () => this.#mode;
  emit = ([items = []]: readonly (readonly { readonly json: Item }[])[]) =>
    void this.items.push(...items.map(({ json }) => json));
  emitError = ({ message }: Error) => void this.problems.push(message);

  get symbols(): readonly string[] {
    return this.items.map(({ flare }) => flare.token.symbol);
  }
}

const test = base.extend<{ gateway: LedGateway; loaded: Loaded }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  gateway: async ({}, use) => {
    await using gateway = await startLedGateway();
    await use(gateway);
  },
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  loaded: async ({}, use) => {
    using copy = new IntegrationPackage("n8n");
    const files = ["FlarewireTrigger.node.js", "FlarewireApi.credentials.js"];
    await use(Object.assign({}, ...files.map((file) => copy.load(file))));
  },
});

async function symbols(functions: Functions, expected: readonly string[]): Promise<void> {
  await eventually(
    () => functions.items.length >= expected.length,
    () => [functions.symbols, functions.problems],
  );
  expect(functions.symbols).toEqual(expected);
}

/** Resolves once the trigger has stored a cursor, which it gets when it is connected. */
async function stored(data: { readonly cursor?: string }): Promise<void> {
  await eventually(
    () => data.cursor !== undefined,
    () => data,
  );
}

test("the trigger continues at its cursor after a restart, with each event once", async ({
  gateway,
  loaded,
}) => {
  const data: { cursor?: string } = {};
  const node = new loaded.FlarewireTrigger();
  const first = new Functions(gateway.url, data);
  const { closeFunction } = await node.trigger.call(first);
  await stored(data);
  gateway.start("ONE");
  await symbols(first, ["ONE"]);
  expect(first.items).toMatchObject([{ event: "flare-started", why: expect.any(String) }]);
  await closeFunction();
  gateway.start("TWO");
  const second = new Functions(gateway.url, data);
  const again = await node.trigger.call(second);
  await symbols(second, ["TWO"]);
  gateway.start("THREE");
  await symbols(second, ["TWO", "THREE"]);
  await again.closeFunction();
  expect([first.problems, second.problems]).toEqual([[], []]);
});

test("a test run in the editor neither uses nor moves the cursor", async ({ gateway, loaded }) => {
  const data: { cursor?: string } = {};
  const node = new loaded.FlarewireTrigger();
  const active = await node.trigger.call(new Functions(gateway.url, data));
  await stored(data);
  await active.closeFunction();
  const before = { ...data };
  gateway.start("ONE");
  const manual = new Functions(gateway.url, data, "manual", "flare-finished");
  const { closeFunction } = await node.trigger.call(manual);
  // A test run starts at the head, so the flare must not finish before it is connected.
  await eventually(
    async () => {
      const running = await fetch(`${gateway.url}/metrics`).then((answer) => answer.text());
      return /^flarewire_connections\S* [1-9]/m.test(running);
    },
    () => manual.problems,
  );
  gateway.finish("ONE");
  await symbols(manual, ["ONE"]);
  await closeFunction();
  expect(data).toEqual(before);
});

test("a server that refuses the trigger is an error of the node", async ({ gateway, loaded }) => {
  const functions = new Functions(gateway.url, {}, "trigger", "flare-best");
  await new loaded.FlarewireTrigger().trigger.call(functions);
  await eventually(
    () => functions.problems.length > 0,
    () => functions.items,
  );
  expect(functions.problems).toEqual([expect.stringContaining("flare-best")]);
});

test("the package names its files and credentials as n8n expects", ({ loaded }) => {
  const { description } = new loaded.FlarewireTrigger();
  expect(description.credentials.map(({ name }) => name)).toEqual([new loaded.FlarewireApi().name]);
  // n8n loads the class that has the first part of the file's name.
  const { n8n } = JSON.parse(readFileSync("examples/integrations/n8n/package.json", "utf8"));
  expect([...n8n.nodes, ...n8n.credentials].map((file: string) => file.split(".")[0])).toEqual(
    Object.keys(loaded),
  );
});
