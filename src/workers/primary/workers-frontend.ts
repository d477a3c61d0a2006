import { assertNever } from "../../base/lib/assert-never.ts";
import { answerHistory, type HistoryReader } from "../../extensions/history/index.ts";
import type { SpentRate } from "../../gateway/http/index.ts";
import type { Hub } from "../../gateway/hub/index.ts";
import type { EndReason, Key, TicketTable } from "../../gateway/keys/index.ts";
import { type GatewayMetrics, MergedMetrics } from "../../gateway/metrics/index.ts";
import type { Question } from "../messages.ts";
import { ConnectionHandoff, type ConnectionHandoffOptions } from "./connection-handoff.ts";
import { LogPublisher, type LogPublisherParts } from "./log-publisher.ts";
import { WorkerPool, type WorkerPoolOptions } from "./worker-pool.ts";

interface WorkersFrontendOptions
  extends Pick<WorkerPoolOptions, "workers" | "spawn" | "report" | "signal" | "clock" | "logger">,
    Pick<ConnectionHandoffOptions, "host" | "port" | "refusals">,
    Pick<LogPublisherParts, "head" | "log" | "encode"> {
  /** Time in which workers disconnect their clients at a shutdown, in milliseconds. */
  readonly drainMs: number;
  readonly config: unknown;
  /** Answers the workers' requests about the past. */
  readonly history?: HistoryReader | undefined;
  readonly hub: Hub;
  readonly tickets: TicketTable;
  /** Notes that a worker served a request of the key. */
  readonly used: (keyId: string) => void;
  /** Returns the valid keys; `undefined` if the server has no key file. */
  readonly keys: () => readonly Key[] | undefined;
  /** Counts the requests of keys at all workers. */
  readonly rates: {
    countElsewhere(keyId: string, requests: number): void;
    readonly spent: readonly SpentRate[];
  };
  /** The primary's own metrics; `undefined` if metrics are off. */
  readonly metrics: Pick<GatewayMetrics, "json"> | undefined;
}

/** How long to wait for a worker's metrics. */
const MEASURE_MS = 1_000;
/** How long to wait for workers to serve the first snapshot. */
const CATCH_UP_MS = 3_000;

/** Serves clients through worker processes: hands over connections, events and shared state. */
export class WorkersFrontend {
  readonly #options: WorkersFrontendOptions;
  readonly #merged = new MergedMetrics();
  readonly #publisher: LogPublisher;
  readonly #pool: WorkerPool;
  readonly #handoff: ConnectionHandoff;

  constructor(options: WorkersFrontendOptions) {
    const { hub, logger, config, keys, report, rates } = options;
    this.#options = options;
    this.#publisher = new LogPublisher({ ...options, history: hub.history });
    this.#pool = new WorkerPool({
      ...options,
      publisher: this.#publisher,
      start: (worker) => ({
        type: "start",
        worker,
        config,
        keys: keys(),
        report: report(),
        spent: rates.spent,
      }),
      onCounted: (keyId, requests) => rates.countElsewhere(keyId, requests),
      answer: (question) => this.#answer(question),
      onCapacity: () => this.#handoff.pump(),
      onReturned: (socket) => this.#handoff.takeBack(socket),
      onGone: ({ metrics: last }) => {
        if (last)
          this.#merged.depart(last).catch((error) => logger.error({ err: error }, "failed to merge metrics"));
      },
    });
    this.#handoff = new ConnectionHandoff({ ...options, receivers: () => this.#pool.processes });
  }

  get trouble(): string | undefined {
    return this.#pool.trouble;
  }

  get counts(): { readonly serving: number; readonly ended: number } {
    return this.#pool.counts;
  }

  /**
   * Resolves with the URL when all workers take connections, or the signal aborts. Rejects if
   * listening fails or a worker crashes before that.
   */
  async listen(): Promise<string> {
    const url = await this.#handoff.listen();
    try {
      await this.#pool.start();
    } catch (error) {
      this.#handoff.close();
      throw error;
    }
    return url;
  }

  /** Resolves when all workers serve this process's current state, or after 3 s. */
  async caughtUp(): Promise<void> {
    const { head } = this.#options;
    if (head.ready) await this.#pool.caughtUp(head.cursor, CATCH_UP_MS);
  }

  keysChanged(): void {
    this.#pool.broadcast({ type: "keys", keys: this.#options.keys() ?? [] });
  }

  keyEnded(keyId: string, reason: EndReason): void {
    this.#pool.broadcast({ type: "ended", keyId, reason });
  }

  /** Stops the workers, which disconnect their clients. Resolves when all workers have ended. */
  async close(): Promise<void> {
    await this.#pool.drain(this.#options.drainMs);
    this.#handoff.close();
    this.#publisher.close();
  }

  #answer(question: Question): unknown {
    const { tickets } = this.#options;
    switch (question.kind) {
      case "issue":
        return tickets.issue(question.keyId);
      case "holder":
        return tickets.refOfTicket(question.ticket);
      case "spend":
        return tickets.spend(question.ticket);
      case "used":
        return this.#options.used(question.keyId);
      case "history":
        return this.#options.history && answerHistory(this.#options.history, question.request);
      case "metrics":
        return this.metricsText();
      default:
        return assertNever(question);
    }
  }

  /** Returns the metrics of all processes as text; `undefined` if metrics are off. */
  async metricsText(): Promise<string | undefined> {
    const own = this.#options.metrics;
    if (!own) return undefined;
    const measured = await Promise.all(this.#pool.processes.map((one) => one.measure(MEASURE_MS)));
    return this.#merged.text(
      await own.json(),
      measured.filter((one) => one !== undefined),
    );
  }
}
