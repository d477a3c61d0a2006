import { setTimeout as wait } from "node:timers/promises";
import { createConfig, startGateway } from "../../../src/index.ts";
import { follow, linesOf, Truth } from "../../clients/python/python-client.ts";
import { IndependentClient } from "../../support/clients/independent-client.ts";
import { createChance } from "../../support/random/chance.ts";
import { ChaosProxy } from "../../support/servers/chaos-proxy.ts";

const TRANSPORTS = ["websocket", "sse", "poll", "auto"] as const;
/** The recorded day lasts 36 minutes at this speed. */
const MARKET = { port: 0, logLevel: "silent", drain: "0", feed: "replay", warmup: "0s", speed: 40 } as const;
/** Maximum time for the clients to reach the head after the proxies have calmed down. */
const CATCH_UP_MS = 180_000;

/**
 * Lets Python clients follow through chaos proxies for `minutes`. Compares each event and every
 * hundredth view with those of a direct client. Throws at the first difference. Returns a summary.
 */
export async function runPython(minutes: number, seed: number): Promise<string> {
  const gateway = await startGateway(createConfig(MARKET));
  const direct = new IndependentClient(gateway.url);
  await direct.connect();
  const truth = new Truth(direct);
  const port = Number(new URL(gateway.url).port);
  const proxies = TRANSPORTS.map((_, at) => new ChaosProxy(port, createChance(seed * 100 + at)));
  const urls = await Promise.all(proxies.map((proxy) => proxy.listen()));
  const clients = TRANSPORTS.map((transport, at) =>
    follow(urls[at] ?? "", { transport, upgrade_after_s: 20, first_message_s: 4 }),
  );
  try {
    await keepConnected(direct, minutes * 60_000);
    for (const proxy of proxies) proxy.calm();
    const target = lastBefore(direct, await headOf(gateway.url, direct)) ?? 0;
    const hasArrived = () =>
      clients.every((client) => linesOf(client).some(({ seq }) => seq !== undefined && seq >= target));
    for (let left = CATCH_UP_MS; left > 0 && !hasArrived(); left -= 1_000) await wait(1_000);
    const results = clients.map((client) => {
      const lines = linesOf(client).filter(({ seq }) => seq === undefined || seq <= target);
      if (lines.findLast(({ seq }) => seq !== undefined)?.seq !== target)
        throw new Error(`a client did not reach ${target}: ${client.stderr()}`);
      return { ...truth.compare(lines), ends: lines.filter((line) => line.connection === "waiting").length };
    });
    const sum = (of: (result: (typeof results)[number]) => number) =>
      results.reduce((total, result) => total + of(result), 0);
    const cut = proxies.reduce((total, { tally }) => total + tally.cut, 0);
    const frozen = proxies.reduce((total, { tally }) => total + tally.frozen, 0);
    return `${sum((one) => one.events)} events and ${sum((one) => one.views)} views of ${clients.length} clients compared, ${sum((one) => one.ends)} connections ended, ${cut} cut, ${frozen} frozen: no event missing or repeated`;
  } finally {
    for (const client of clients) await client[Symbol.asyncDispose]();
    for (const proxy of proxies) await proxy.close();
    await direct.disconnect();
    await gateway.stop();
  }
}

/** Waits, and reconnects the direct client if the busy server has disconnected it. */
async function keepConnected(direct: IndependentClient, ms: number): Promise<void> {
  const end = performance.now() + ms;
  while (performance.now() < end) {
    await wait(Math.min(1_000, end - performance.now()));
    if (direct.closeCode !== undefined) await direct.connect();
  }
}

/** Returns the seq of the server's current head, once the direct client has reached it. */
async function headOf(url: string, direct: IndependentClient): Promise<number> {
  const { headers } = await fetch(`${url}/api/v1/snapshot`);
  const head = Number(headers.get("flarewire-cursor")?.split("-")[1]);
  for (let left = CATCH_UP_MS; direct.seq < head && left > 0; left -= 1_000)
    await keepConnected(direct, 1_000);
  if (direct.seq < head) throw new Error(`the direct client is at ${direct.seq} instead of ${head}`);
  return head;
}

/** Returns the seq of the last event at or before this one, except candles. */
function lastBefore({ received }: IndependentClient, target: number): number | undefined {
  const own = received.events.filter(({ channel, seq }) => channel !== "candles" && Number(seq) <= target);
  return own.length === 0 ? undefined : Number(own.at(-1)?.seq);
}
