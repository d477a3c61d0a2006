import type { ChildProcess } from "node:child_process";
import type { Logger } from "pino";
import type { Refusals, SlotAllocator, SpentRate } from "../../http/index.ts";
import type { Head, Hub } from "../../hub/index.ts";
import type { IssuedTicket, Key } from "../../keys/index.ts";
import type { Clock } from "../../lib/time/clock.ts";
import type { EventLog } from "../../log/index.ts";
import { type GatewayMetrics, MergedMetrics } from "../../metrics/index.ts";
import type { Lists } from "../../protocol/index.ts";
import type { SourceNews } from "../messages.ts";
import { ConnectionHandoff } from "./connection-handoff.ts";
import { LogPublisher } from "./log-publisher.ts";
import { WorkerPool } from "./worker-pool.ts";

/** What the primary process serves through its workers. */
export interface WorkersFrontOptions {
  readonly workers: number;
  readonly host: string;
  readonly port: number;
  /** Of the whole stop. */
  readonly drainMs: number;
  /** The primary's Config, for the workers. */
  readonly config: unknown;
  /** Begins a worker's process, with a line to it. */
  readonly spawn: (worker: number) => ChildProcess;
  readonly head: Head;
  readonly hub: Hub;
  readonly log: EventLog;
  readonly news: () => SourceNews;
  /** Lists as bytes. */
  readonly format: (lists: Lists) => Uint8Array;
  readonly places: SlotAllocator;
  readonly tickets: {
    issue(keyId: string): IssuedTicket;
    keyOf(ticket: string): string | undefined;
  };
  /** The keys that count now; `undefined` where none are known. */
  readonly keys: () => readonly Key[] | undefined;
  /** Counts the requests of keys at all workers. */
  readonly rates: {
    countElsewhere(keyId: string, requests: number): void;
    readonly spent: readonly SpentRate[];
  };
  /** The primary's own numbers; `undefined` where none are served. */
  readonly metrics: Pick<GatewayMetrics, "json"> | undefined;
  readonly refusals: Refusals;
  readonly clock: Clock;
  readonly logger: Logger;
}

/** How long a worker may take to tell its numbers, and to serve the first snapshot. */
const MEASURE_MS = 1_000;
const CATCH_UP_MS = 3_000;

/** Serves through worker processes: takes connections for them, tells them of events, and keeps what is one for all. */
export class WorkersFront {
  readonly #options: WorkersFrontOptions;
  readonly #merged = new MergedMetrics();
  readonly #feed: LogPublisher;
  readonly #crew: WorkerPool;
  readonly #reception: ConnectionHandoff;
  /** Ends of keys, and by key its last one. */
  #ends = 0;
  readonly #endedAt = new Map<string, number>();

  constructor(options: WorkersFrontOptions) {
    const { hub, metrics, clock, logger, config, keys, news, rates, spawn, places, tickets, workers } =
      options;
    this.#options = options;
    this.#feed = new LogPublisher({ ...options, history: hub.history });
    const text = metrics && { contentType: this.#merged.contentType, text: () => this.#text(metrics) };
    this.#crew = new WorkerPool({
      ...{ workers, spawn, news, clock, logger },
      feed: this.#feed,
      start: (worker) => ({
        ...{ type: "start", worker, config, keys: keys(), ends: this.#ends, news: news() },
        spent: rates.spent,
      }),
      onCounted: (keyId, requests) => rates.countElsewhere(keyId, requests),
      whole: {
        ...{ places, tickets, metrics: text },
        hasEnded: (keyId, ends) => (this.#endedAt.get(keyId) ?? 0) > ends,
      },
      onRoom: () => this.#reception.pump(),
      onLeftOver: (socket) => this.#reception.takeBack(socket),
      onGone: ({ metrics: last }) => {
        if (last)
          this.#merged.depart(last).catch((error) => logger.error({ err: error }, "metrics not merged"));
      },
    });
    this.#reception = new ConnectionHandoff({ ...options, receivers: () => this.#crew.processes });
  }

  /** See Front. */
  get trouble(): string | undefined {
    return this.#crew.trouble;
  }

  /** See MetricsParts. */
  get counts(): { readonly serving: number; readonly ended: number } {
    return this.#crew.counts;
  }

  /** Resolves with the address when all workers take connections. Rejects with the system's error where it cannot listen, or when a worker ends in its start. */
  async listen(): Promise<string> {
    const url = await this.#reception.listen();
    try {
      await this.#crew.start();
    } catch (error) {
      this.#reception.close();
      throw error;
    }
    return url;
  }

  /** Resolves when all workers serve the state that this process has now, or are slow to. */
  async caughtUp(): Promise<void> {
    const { head } = this.#options;
    if (head.ready) await this.#crew.caughtUp(head.cursor, CATCH_UP_MS);
  }

  /** The keys are others now. */
  keysChanged(): void {
    this.#crew.tell({ type: "keys", keys: this.#options.keys() ?? [] });
  }

  /** A key does not count any more (`isGone`), or for less. */
  keyEnded(keyId: string, isGone: boolean): void {
    this.#ends += 1;
    this.#endedAt.set(keyId, this.#ends);
    this.#crew.tell({ type: "ended", keyId, isGone, ends: this.#ends });
  }

  /** Has the workers send their clients away, and ends with the last of them. */
  async close(): Promise<void> {
    await this.#crew.drain(this.#options.drainMs);
    this.#reception.close();
    this.#feed.close();
  }

  /** The numbers of all processes as one, as text. */
  async #text(own: Pick<GatewayMetrics, "json">): Promise<string> {
    const told = await Promise.all(this.#crew.processes.map((one) => one.measure(MEASURE_MS)));
    return this.#merged.text(
      await own.json(),
      told.filter((one) => one !== undefined),
    );
  }
}
