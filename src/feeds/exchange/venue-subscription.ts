import { messageOf } from "../../base/lib/text/message-of.ts";
import { backOffMs } from "../../base/lib/time/back-off.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { HOUR_MS } from "../../base/lib/time/time.ts";
import { waitAtMost } from "../../base/lib/time/wait-at-most.ts";
import type { ServiceClient } from "../service/service-client.ts";
import { StreamConnection } from "./stream-connection.ts";
import type { StreamNews, Venue } from "./venue.ts";

interface SubscriptionOptions {
  readonly venue: Venue;
  readonly client: ServiceClient;
  readonly clock: Clock;
  readonly random: () => number;
  /** Age in ms at which a connection is replaced. Default 23 h plus up to half an hour. */
  readonly renewMs?: number;
  readonly onNews: (news: StreamNews) => void;
  /** Called when a new connection has replaced the old one. News in between may be missing. */
  readonly onReplaced?: () => void;
  /** Called when the stream opens after a failure, with the pairs that missed news. */
  readonly onResumed: (pairs: readonly string[]) => void;
  /**
   * Called with the reason when the stream is interrupted or cannot be opened, and with `undefined`
   * once it is open.
   */
  readonly onHealth: (trouble: string | undefined) => void;
}

/** Exchanges cut a connection after 24 hours, so it is replaced before that. */
const RENEW_MS = 23 * HOUR_MS;
const RENEW_SPREAD_MS = HOUR_MS / 2;
/** Maximum time for a new connection to subscribe. If it takes longer, the old one stays. */
const TAKEOVER_MS = 30_000;
/** After a connection that lasted longer than this, the pauses start over. */
const STABLE_MS = 60_000;

/**
 * Maintains a subscription: reconnects with growing pauses, and renews the connection before the
 * exchange cuts it.
 */
export class VenueSubscription {
  readonly pairs = new Set<string>();
  readonly #options: SubscriptionOptions;
  /** Open connections: two while one replaces the other. */
  readonly #connections = new Set<StreamConnection>();
  #failures = 0;

  constructor(options: SubscriptionOptions, pairs: readonly string[]) {
    this.#options = options;
    for (const pair of pairs) this.pairs.add(pair);
  }

  change(added: readonly string[], removed: readonly string[]): void {
    for (const pair of removed) this.pairs.delete(pair);
    for (const pair of added) this.pairs.add(pair);
    if (added.length + removed.length === 0) return;
    for (const connection of this.#connections) connection.change(added, removed);
  }

  /** Maintains the subscription until the signal aborts. Never rejects. */
  async run(signal: AbortSignal): Promise<void> {
    const { clock, random, onHealth } = this.#options;
    while (!signal.aborted) {
      const since = clock.monotonic();
      const reason = await this.#runConnection(signal).catch((error: unknown) => messageOf(error));
      if (signal.aborted) return;
      onHealth(reason);
      this.#failures = clock.monotonic() - since > STABLE_MS ? 1 : this.#failures + 1;
      await clock.sleep(backOffMs(this.#failures, random), signal).catch(() => {});
    }
  }

  /**
   * Connects, and replaces the connection when it is old. Resolves with the reason for the end of
   * the last one. Rejects if it cannot get a ticket.
   */
  async #runConnection(signal: AbortSignal): Promise<string> {
    const { clock, random, onHealth, onResumed, renewMs } = this.#options;
    let connection = await this.#connect(signal);
    const leave = () => {
      for (const open of this.#connections) open.close("stopping");
    };
    signal.addEventListener("abort", leave, { once: true });
    try {
      if (!(await connection.ready)) return await connection.ended;
      onHealth(undefined);
      if (this.#failures > 0) onResumed([...this.pairs]);
      for (;;) {
        const over = new AbortController();
        const until = AbortSignal.any([signal, over.signal]);
        const aged = clock.sleep(renewMs ?? RENEW_MS + random() * RENEW_SPREAD_MS, until).then(
          () => undefined,
          () => undefined,
        );
        const reason = await Promise.race([connection.ended, aged]);
        over.abort();
        if (reason !== undefined || signal.aborted) return reason ?? "stopping";
        connection = await this.#takeOver(connection, signal);
      }
    } finally {
      signal.removeEventListener("abort", leave);
      connection.close("left");
    }
  }

  async #takeOver(old: StreamConnection, signal: AbortSignal): Promise<StreamConnection> {
    const { clock, onReplaced } = this.#options;
    const next = await this.#connect(signal).catch(() => undefined);
    if (!next) return old;
    const isReady = await waitAtMost(next.ready, TAKEOVER_MS, clock, signal).catch(() => false);
    const [stays, goes] = isReady ? [next, old] : [old, next];
    goes.close("replaced");
    if (isReady) onReplaced?.();
    return stays;
  }

  async #connect(signal: AbortSignal): Promise<StreamConnection> {
    const { venue, client, clock, onNews } = this.#options;
    const { stream } = venue;
    const endpoint = stream.ticket
      ? await client.require({ ...stream.ticket, read: stream.endpoint }, signal)
      : stream.endpoint(undefined);
    signal.throwIfAborted();
    const pairs = [...this.pairs];
    const connection = new StreamConnection({ stream, endpoint, clock, pairs, onNews });
    this.#connections.add(connection);
    void connection.ended.then(() => this.#connections.delete(connection));
    return connection;
  }
}
