import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as turn } from "node:timers/promises";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { EMPTY_SNAPSHOT } from "../../../src/base/model/index.ts";
import { MARKET } from "../../../src/gateway/http/contract/example-market.ts";
import { createConfig, type Gateway, startGateway } from "../../../src/index.ts";
import { ManyPollers } from "../../support/clients/many-pollers.ts";
import { PollCache } from "../../support/servers/poll-cache.ts";
import { ToldSource } from "../../support/world/told-source.ts";
import type { Row } from "./report.ts";

const BATCHES = 10;
const EVERY_MS = 6_000;

/** A market whose only flare changes once a batch, as one event. */
class OneFlare extends ToldSource {
  readonly info = { ...MARKET.source, origin: "simulated" } as const;
  #batch = 0;

  next(): void {
    this.#batch += 1;
    const [flare] = MARKET.flares.pro;
    const pro = flare ? [{ ...flare, recent_price_change: this.#batch }] : [];
    const flares = { ...EMPTY_SNAPSHOT.flares, pro };
    this.tell({ observedAtMs: this.#batch * 1_000, snapshot: { ...EMPTY_SNAPSHOT, flares } });
  }
}

/** Measures what many pollers behind the documented nginx cost, and how late their events are. */
export async function benchPollers(count: number): Promise<Row[]> {
  execFileSync("nginx", ["-v"], { stdio: "ignore" });
  const directory = mkdtempSync(join(tmpdir(), "flarewire-pollers-"));
  const source = new OneFlare();
  const limits = { maxSockets: `${count}`, maxSocketsPerIp: `${count}`, anonymousRequests: "none" };
  const config = createConfig({ port: 0, data: "none", logLevel: "silent", drain: "0", ...limits });
  const starting = startGateway(config, { source });
  source.next();
  const gateway = await starting;
  await publish(source, gateway);
  const cache = await PollCache.start(directory, Number(new URL(gateway.url).port));
  const publishedAt = new Map<number, number>();
  const delaysMs: number[] = [];
  const pollers = new ManyPollers(cache.port, (seq) => {
    const atMs = publishedAt.get(seq);
    if (atMs !== undefined) delaysMs.push(performance.now() - atMs);
  });
  try {
    const before = await requestsAt(gateway);
    const cursors = await pollers.start(count);
    const started = await requestsAt(gateway);
    const { seq } = gateway.head.cursor;
    const last = seq + BATCHES;
    const followed = Promise.all(cursors.map((cursor) => pollers.follow(cursor, last)));
    for (let batch = 1; batch <= BATCHES; batch += 1) {
      await systemClock.sleep(EVERY_MS, new AbortController().signal);
      publishedAt.set(seq + batch, performance.now());
      await publish(source, gateway);
    }
    const skipped = (await followed).filter((seqs) => !isComplete(seqs, last)).length;
    const polled = (await requestsAt(gateway)) - started;
    delaysMs.sort((a, b) => a - b);
    const at = (share: number) => delaysMs[Math.floor(share * (delaysMs.length - 1))] ?? Number.NaN;
    const row = (what: string, value: number, unit: string, aim: string): Row => ({ what, value, unit, aim });
    return [
      row(`requests of ${count} pollers at the server, a batch`, polled / BATCHES, "", "1"),
      row("requests at the server for their start", started - before, "", "one a second"),
      row("pollers that skipped or repeated an event", skipped, "", "0"),
      row("pages delivered", delaysMs.length, "", `${count * BATCHES}`),
      row("from the event to the poller, median", at(0.5), "ms", "nginx looks every 500 ms"),
      row("the same, 99th percentile", at(0.99), "ms", "with all pollers in one process"),
      row("the same, longest", at(1), "ms", "with all pollers in one process"),
    ];
  } finally {
    pollers.close();
    await cache.stop();
    await gateway.stop();
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Publishes a batch. Resolves once the head has it. */
async function publish(source: OneFlare, { head }: Gateway): Promise<void> {
  const { seq } = head.cursor;
  source.next();
  while (head.cursor.seq === seq) await turn();
}

/** Returns the number of responses so far, without those of this function. */
async function requestsAt({ url }: Gateway): Promise<number> {
  const metrics = await (await fetch(`${url}/metrics`)).text();
  const counts = [...metrics.matchAll(/^flarewire_http_responses_total\{(.*?)\} (\d+)/gm)];
  return counts.reduce(
    (sum, [, labels, value]) => sum + (labels?.includes("metrics") ? 0 : Number(value)),
    0,
  );
}

function isComplete(seqs: readonly number[], last: number): boolean {
  const first = last - BATCHES + 1;
  return seqs.length === BATCHES && seqs.every((seq, index) => seq === first + index);
}
