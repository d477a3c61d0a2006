import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { pino } from "pino";
import { expect, test } from "vitest";
import {
  type Extension,
  extension,
  gatewaySettings,
  httpFrontend,
  memoryPersistence,
  runGateway,
  systemClock,
} from "../../../src/gateway/index.ts";
import { createConfig, startGateway } from "../../../src/index.ts";
import { LedMarket } from "../../examples/led-gateway.ts";
import { newDirectory } from "../../support/servers/edges.ts";

const STAGES = ["check", "open", "routes", "listen"] as const;
type Stage = (typeof STAGES)[number];

/** Returns three extensions that note when they are closed. The second fails at this stage. */
function extensionsOf(stage: Stage, closed: string[]): readonly Extension[] {
  const fail = (at: Stage) => {
    if (at === stage) throw new Error(`failed to ${stage}`);
  };
  const healthy = (name: string) =>
    extension({ name, settings: {}, open: () => ({ close: async () => void closed.push(name) }) });
  const failing = extension({
    name: "two",
    settings: {},
    check: async () => fail("check"),
    open: () => {
      fail("open");
      return { routes: () => fail("routes"), close: async () => void closed.push("two") };
    },
  });
  return [healthy("one"), failing, healthy("three")];
}

/** Returns a port that another server has. */
async function takenPort(onTestFinished: (end: () => void) => void): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  onTestFinished(() => void server.close());
  await new Promise((resolve) => server.once("listening", resolve));
  return (server.address() as AddressInfo).port;
}

test.for([
  ["check", []],
  ["open", ["one", "source"]],
  ["routes", ["three", "two", "one", "source"]],
  ["listen", ["three", "two", "one", "source"]],
] as const)(
  "a start that fails at the stage %s closes what it opened, in reverse",
  async ([stage, expected], { onTestFinished }) => {
    const closed: string[] = [];
    const port = stage === "listen" ? await takenPort(onTestFinished) : 0;
    const settings = gatewaySettings({ port, drainMs: 0 });
    const logger = pino({ level: "silent" });
    const start = runGateway({
      ...{ settings, clock: systemClock, logger, extensions: extensionsOf(stage, closed) },
      persistence: memoryPersistence({ config: settings, clock: systemClock, logger }),
      openSource: () => ({
        ...{ kind: "snapshots", source: new LedMarket() },
        close: async () => void closed.push("source"),
      }),
      openFrontend: httpFrontend(settings),
    });
    await expect(start).rejects.toThrow(stage === "listen" ? /in use/ : `failed to ${stage}`);
    expect(closed).toEqual(expected);
  },
);

test("a start that fails leaves the data directory to the next one, which continues its log", async ({
  onTestFinished,
}) => {
  const data = newDirectory(onTestFinished);
  const start = (extensions: readonly Extension[], port = 0) =>
    startGateway(createConfig({ port, data, drain: "0", logLevel: "silent" }), {
      ...{ source: new LedMarket(), extensions },
    });
  const first = await start([]);
  const { epoch } = first.head.cursor;
  await first.stop();
  const taken = await takenPort(onTestFinished);
  for (const stage of STAGES) {
    const failed = start(extensionsOf(stage, []), stage === "listen" ? taken : 0);
    await expect(failed).rejects.toThrow(stage === "listen" ? /in use/ : `failed to ${stage}`);
    const next = await start([]);
    expect(next.head.cursor.epoch).toBe(epoch);
    await next.stop();
  }
});
