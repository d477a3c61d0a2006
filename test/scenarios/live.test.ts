import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import type { ReadyResponse } from "../../src/http/rest/responses.ts";
import type { Snapshot } from "../../src/model/index.ts";
import { runCli, spawnCli } from "../cli/spawn-cli.ts";
import { describeOnAnvil } from "../feed/chain/anvil.ts";
import { newDirectory } from "../support/edges.ts";
import { checkedFetch } from "../support/validate-response.ts";
import { LiveWorld } from "./live-world.ts";

const PATIENCE = { timeout: 30_000, interval: 50 };

interface Seen {
  readonly status: number;
  readonly ready: ReadyResponse;
}

async function readyz(url: string): Promise<Seen> {
  const { status, json } = await checkedFetch(`${url}/readyz`);
  return { status, ready: json as ReadyResponse };
}

function partOf({ ready }: Seen, name: string) {
  return ready.parts?.find((part) => part.name === name);
}

async function rest<T>(url: string, path: string): Promise<T> {
  return (await checkedFetch(`${url}/api/v1/${path}`)).json as T;
}

/**
 * What was served since the first snapshot, as the events' bodies; what a server says of its source
 * is its own.
 */
async function servedOf(url: string): Promise<readonly string[]> {
  const bodies: string[] = [];
  for (let after = "oldest"; ; ) {
    const page = await rest<{ cursor: string; more: boolean; events: Record<string, unknown>[] }>(
      url,
      `events?after=${after}&limit=1000`,
    );
    for (const { name, channel, observed_at, data } of page.events)
      if (channel !== "status") bodies.push(JSON.stringify([name, channel, observed_at, data]));
    if (!page.more) return bodies;
    after = page.cursor;
  }
}

describeOnAnvil("the live market from its sources to the wire", () => {
  test("[L4] three chains, an exchange and an enricher in one market; a chain goes down and comes back, all others go on, and its recording replays to the same events", {
    timeout: 120_000,
  }, async ({ onTestFinished }) => {
    const directory = newDirectory(onTestFinished);
    await using world = await LiveWorld.open();
    const data = newDirectory(onTestFinished);
    const parts = "bsc,polygon,avalanche,exchange";
    const flags = [
      "--feed",
      "live",
      "--live",
      parts,
      "--warmup",
      "11m",
      "--port",
      "0",
      "--drain",
      "0",
      "--record",
      directory,
    ];
    const serve = () => spawnCli(["serve", ...flags, "--data", data, ...world.flags]);
    await using server = serve();
    await server.said("stdout", "with the live markets of bsc, polygon, avalanche, binance");
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(server.stdout())?.[0] ?? "";

    await vi.waitFor(async () => {
      const seen = await readyz(url);
      expect(seen.ready.parts?.map(({ name, state }) => `${name} ${state}`)).toEqual([
        "bsc live",
        "polygon live",
        "avalanche live",
        "exchange live",
      ]);
      const charts = await rest<Snapshot["charts"]>(url, "charts");
      expect(charts.bsc.map(({ flare }) => flare.token.address)).toEqual([world.tokenOf("bsc")]);
      expect(charts.matic.map(({ token }) => token.address)).toEqual([world.tokenOf("polygon")]);
      expect(charts.avalanche.map(({ token }) => token.address)).toEqual([world.tokenOf("avalanche")]);
      expect(charts.exchange.map(({ token }) => token.symbol)).toEqual(["BTC"]);
      expect(charts.matic[0]?.market_data?.market_id).toBe("polygon-coin");
    }, PATIENCE);

    const seen: Seen[] = [];
    const look = async () => seen.push(await readyz(url));
    await world.stop("avalanche");
    await vi.waitFor(async () => {
      await look();
      expect(seen.at(-1) && partOf(seen.at(-1) as Seen, "avalanche")?.state).toBe("stale");
    }, PATIENCE);
    const fresh = await world.list("bsc", "FRESH");
    await vi.waitFor(async () => {
      await look();
      const { bsc } = await rest<Snapshot["newest"]>(url, "newest");
      expect(bsc.map(({ token }) => token.address)).toEqual([fresh]);
    }, PATIENCE);
    const metrics = await (await fetch(`${url}/metrics`)).text();
    expect(metrics).toMatch(/^flarewire_part_up\{part="avalanche"\} 0$/m);
    expect(metrics).toMatch(/^flarewire_part_up\{part="bsc"\} 1$/m);
    const host = new URL(world.urlOf("bsc")).host;
    expect(metrics).toContain(`flarewire_service_up{part="bsc",service="${host} #1"} 1`);
    const down = new URL(world.urlOf("avalanche")).host;
    expect(metrics).toContain(`flarewire_service_up{part="avalanche",service="${down} #2"} 0`);
    expect(metrics).toMatch(/^flarewire_service_requests_total\{part="enrich",service="coingecko"\} [1-9]/m);

    await world.start("avalanche");
    await world.trade("avalanche");
    await vi.waitFor(async () => {
      await look();
      expect(seen.at(-1) && partOf(seen.at(-1) as Seen, "avalanche")?.state).toBe("live");
    }, PATIENCE);
    // Never was the market not ready, nor its age unknown; that of the part that was down grew.
    expect(seen.map(({ status }) => status)).toEqual(seen.map(() => 200));
    const ages = seen.flatMap((one) => partOf(one, "avalanche")?.data_age_ms ?? []);
    expect(ages).toHaveLength(seen.length);
    expect(Math.max(...ages)).toBeGreaterThan(3_000);
    expect(seen.some(({ ready }) => ready.reason.startsWith("avalanche "))).toBe(true);

    const served = await servedOf(url);
    const before = await rest<{ cursor: string; observed_at: string }>(url, "snapshot");
    server.child.kill("SIGTERM");
    expect(await server.ended()).toBe(0);
    const [run = ""] = readdirSync(directory);
    const out = join(directory, "events.ndjson");
    const replayed = await runCli(["replay", join(directory, run), "--events", out]);
    expect(replayed.code, replayed.stderr).toBe(0);
    const again = readFileSync(out, "utf8")
      .trimEnd()
      .split("\n")
      .map((line) => {
        const { name, channel, observed_at, data } = JSON.parse(line);
        return JSON.stringify([name, channel, observed_at, data]);
      });
    // The replay begins with the empty state, the server with that of the warm-up's end.
    const from = again.indexOf(served[0] ?? "");
    expect(served.length).toBeGreaterThan(3);
    expect(again.slice(from, from + served.length)).toEqual(served);

    // Started again it goes on where it was, with all parts, and every second of each.
    await using next = serve();
    await next.said("stdout", "with the live markets");
    const [place = ""] = /http:\/\/127\.0\.0\.1:\d+/.exec(next.stdout()) ?? [];
    await vi.waitFor(async () => {
      const { ready } = await readyz(place);
      expect(ready.parts?.map(({ state }) => state)).toEqual(["live", "live", "live", "live"]);
      const after = await rest<{ cursor: string; observed_at: string }>(place, "snapshot");
      expect(after.cursor.split("-")[0]).toBe(before.cursor.split("-")[0]);
      expect(after.observed_at > before.observed_at).toBe(true);
    }, PATIENCE);
    const late = await (await fetch(`${place}/metrics`)).text();
    for (const part of ["bsc", "polygon", "avalanche", "exchange"])
      expect(late).toContain(`flarewire_part_late_events_total{part="${part}"} 0`);
  });
});
