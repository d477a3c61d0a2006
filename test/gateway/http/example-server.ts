import { expect } from "vitest";
import { EMPTY_SNAPSHOT, type Snapshot } from "../../../src/base/model/index.ts";
import { MARKET } from "../../../src/gateway/http/contract/example-market.ts";
import { createConfig, startGateway } from "../../../src/index.ts";
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

/**
 * Starts a gateway with every route and the market of the examples. Returns its address once it has
 * the state of {@link AT}.
 */
export async function serveExamples(finish: Finish): Promise<string> {
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
