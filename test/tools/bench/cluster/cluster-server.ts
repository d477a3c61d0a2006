/*
 * Runs a whole gateway as one process, or as a node of a cluster, by the settings in its first
 * argument. Its second argument is a market file. It publishes a second of the market per
 * request on its control port.
 */
import { createConfig } from "../../../../src/app/config/config.ts";
import { startGateway } from "../../../../src/app/serve.ts";
import {
  applyEvent,
  type Freshness,
  type Snapshot,
  type SourceInfo,
} from "../../../../src/base/protocol/index.ts";
import type { Poll, SnapshotSource } from "../../../../src/gateway/source/index.ts";
import { openControl, sayReady } from "../harness/control-port.ts";
import { readMarket } from "../harness/market-file.ts";

/** Time after which a batch counts as published, if nothing changed. */
const NO_CHANGE_MS = 5_000;

const BEGIN_MS = Date.UTC(2026, 0, 1);

/** Plays a market on request, one batch after the other. */
class SteppedSource implements SnapshotSource {
  readonly info: SourceInfo = {
    name: "bench",
    origin: "simulated",
    facts: { trades: true, liquidity: true, listings: true, profiles: true },
  };
  readonly #market;
  #snapshot: Snapshot;
  #seconds = 0;
  #due = 1;
  #wake: () => void = () => {};

  constructor(path: string) {
    this.#market = readMarket(path);
    this.#snapshot = this.#market.base;
  }

  step(): void {
    this.#due += 1;
    this.#wake();
  }

  async poll(signal: AbortSignal): Promise<Poll> {
    while (this.#due === 0) {
      signal.throwIfAborted();
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener("abort", () => resolve(), { once: true });
      });
    }
    this.#due -= 1;
    const { batches } = this.#market;
    // The first poll returns the market's base. A view of all channels is a snapshot.
    const batch = this.#seconds === 0 ? [] : (batches[(this.#seconds - 1) % batches.length] ?? []);
    for (const event of batch) this.#snapshot = applyEvent(this.#snapshot, event) as Snapshot;
    this.#seconds += 1;
    return { observedAtMs: BEGIN_MS + this.#seconds * 1_000, snapshot: this.#snapshot };
  }

  freshness(): Freshness {
    const now = new Date().toISOString();
    return { state: "live", reason: "", observed_at: now, last_success_at: now, data_age_ms: 0 };
  }
}

const [, , settings = "{}", market = ""] = process.argv;
const limits = {
  maxSockets: 100_000,
  maxSocketsPerIp: 100_000,
  anonymousRequests: 1_000_000_000,
  anonymousStreams: 1_000_000_000,
};
const config = createConfig({
  ...{ port: 0, logLevel: "error", data: "none", compression: false, drain: "0", heartbeat: "1m" },
  ...{ ...limits, ...JSON.parse(settings) },
});
const source = new SteppedSource(market);
const gateway = await startGateway(config, { source });

let clients = 0;
const control = await openControl({
  async publish() {
    const events = await new Promise<number>((resolve) => {
      const end = (count: number) => {
        clearTimeout(timer);
        stop();
        resolve(count);
      };
      const timer = setTimeout(() => end(0), NO_CHANGE_MS);
      const stop = gateway.head.onChange(({ length }) => end(length));
      source.step();
    });
    return events * clients;
  },
  configure(order) {
    clients = Object(order).clients;
  },
});
sayReady(Number(new URL(gateway.url).port), control);
