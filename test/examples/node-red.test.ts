import { EventEmitter, once } from "node:events";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test as base, expect } from "vitest";
import { eventually } from "../support/time/waiters.ts";
import { IntegrationPackage } from "./integration-package.ts";
import { type LedGateway, startLedGateway } from "./led-gateway.ts";

type Config = Readonly<Record<string, unknown>>;
type Constructor = (this: FakeNode, config: Config) => void;

/** Stands in for a node of Node-RED. Records what it sends, warns and shows. */
class FakeNode extends EventEmitter {
  id = "";
  credentials: { readonly key?: string } = {};
  readonly sent: {
    readonly topic: string;
    readonly payload: { readonly token: { readonly symbol: string } };
  }[] = [];
  readonly warnings: string[] = [];
  readonly errors: string[] = [];
  shown: { readonly text?: string } = {};

  send = (message: FakeNode["sent"][number]) => void this.sent.push(message);
  warn = (text: string) => void this.warnings.push(text);
  error = (text: string) => void this.errors.push(text);
  status = (shown: FakeNode["shown"]) => {
    this.shown = shown;
  };

  get symbols(): readonly string[] {
    return this.sent.map(({ payload }) => payload.token.symbol);
  }

  /** Closes the node, as a restart or a deploy does. */
  async close(): Promise<void> {
    const closed = once(this, "closed");
    this.emit("close", () => this.emit("closed"));
    await closed;
  }
}

/** Stands in for Node-RED: types, nodes by id, and the user directory. */
class FakeRed {
  readonly settings: { readonly userDir: string };
  readonly types = new Map<string, Constructor>();
  readonly #nodes = new Map<unknown, FakeNode>();
  readonly nodes = {
    registerType: (name: string, type: Constructor) => void this.types.set(name, type),
    createNode: (node: FakeNode, { id }: Config) => {
      node.id = String(id);
      this.#nodes.set(id, node);
    },
    getNode: (id: unknown) => this.#nodes.get(id),
  };

  constructor(userDir: string) {
    this.settings = { userDir };
  }

  create(type: string, config: Config): FakeNode {
    const node = new FakeNode();
    this.types.get(type)?.call(node, config);
    return node;
  }
}

const test = base.extend<{ gateway: LedGateway; red: FakeRed }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  gateway: async ({}, use) => {
    await using gateway = await startLedGateway();
    await use(gateway);
  },
  red: async ({ gateway }, use) => {
    using copy = new IntegrationPackage("node-red");
    const red = new FakeRed(copy.folder);
    (copy.load("flarewire.js") as (red: FakeRed) => void)(red);
    red.create("flarewire-server", { id: "server", url: gateway.url });
    await use(red);
  },
});

const STARTED = { id: "one", server: "server", channel: "flares.pro" };

async function connected(node: FakeNode): Promise<FakeNode> {
  await eventually(
    () => node.shown.text === "connected",
    () => [node.shown, node.errors],
  );
  return node;
}

async function symbols(node: FakeNode, expected: readonly string[]): Promise<void> {
  await eventually(
    () => node.sent.length >= expected.length,
    () => [node.symbols, node.errors],
  );
  expect(node.symbols).toEqual(expected);
}

test("each trigger sends a message for its event, and only for that", async ({ gateway, red }) => {
  gateway.start("OLD");
  const started = await connected(red.create("flarewire-flare-started", STARTED));
  const finished = await connected(red.create("flarewire-flare-finished", { ...STARTED, id: "two" }));
  const surged = await connected(red.create("flarewire-flare-surged", { ...STARTED, id: "three" }));
  gateway.start("NEW");
  gateway.surge("OLD");
  gateway.finish("OLD");
  await symbols(started, ["NEW"]);
  await symbols(surged, ["OLD"]);
  await symbols(finished, ["OLD"]);
  expect(started.sent[0]).toMatchObject({
    topic: "flare-started",
    cause: "detected",
    why: expect.any(String),
  });
  expect(finished.sent[0]).toMatchObject({ topic: "flare-finished", cause: "faded" });
  expect(surged.sent[0]).toMatchObject({ topic: "flare-surged", why: expect.any(String) });
  for (const node of [started, surged, finished]) await node.close();
});

test("a node continues at its cursor after a restart, without gaps or repeats", async ({ gateway, red }) => {
  const first = await connected(red.create("flarewire-flare-started", STARTED));
  gateway.start("BEFORE");
  await symbols(first, ["BEFORE"]);
  await first.close();
  gateway.start("BETWEEN");
  const second = red.create("flarewire-flare-started", STARTED);
  await symbols(second, ["BETWEEN"]);
  gateway.start("AFTER");
  await symbols(second, ["BETWEEN", "AFTER"]);
  expect(second.warnings).toEqual([]);
  await second.close();
});

test("a node whose cursor the server does not know warns that it missed events", async ({ gateway, red }) => {
  const first = await connected(red.create("flarewire-flare-started", STARTED));
  gateway.start("BEFORE");
  await symbols(first, ["BEFORE"]);
  await first.close();
  const file = join(red.settings.userDir, "flarewire/one.json");
  const { source, cursor } = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ source, cursor: cursor.replace(/^\w+/, "another") }));
  const second = red.create("flarewire-flare-started", STARTED);
  await eventually(
    () => second.warnings.length > 0,
    () => second.shown,
  );
  expect(second.warnings).toEqual([expect.stringContaining("missed")]);
  await second.close();
  // Another selection starts at the head, because the stored cursor belongs to other events.
  const other = await connected(red.create("flarewire-flare-finished", STARTED));
  expect([other.warnings, other.sent]).toEqual([[], []]);
  await other.close();
});

test("a node without a server shows that, and one that the server refuses shows that it stopped", async ({
  gateway,
  red,
}) => {
  const alone = red.create("flarewire-flare-started", { ...STARTED, server: "none" });
  expect(alone.shown.text).toBe("no server");
  const wrong = red.create("flarewire-flare-started", { ...STARTED, channel: "flares.best" });
  await eventually(
    () => wrong.errors.length > 0,
    () => wrong.shown,
  );
  expect([wrong.shown.text, wrong.errors]).toEqual(["stopped", [expect.stringContaining("flares.best")]]);
  expect(gateway.url).toContain("http");
  await wrong.close();
});

test("each type has a form and a help text", ({ red }) => {
  const html = readFileSync("examples/integrations/node-red/flarewire.html", "utf8");
  for (const type of red.types.keys()) expect(html).toContain(`data-template-name="${type}"`);
  for (const type of [...red.types.keys()].slice(1)) expect(html).toContain(`data-help-name="${type}"`);
});
