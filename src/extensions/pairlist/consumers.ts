import type { Clock } from "../../base/lib/time/clock.ts";
import { type Hub, type Socket, websocketFraming } from "../../gateway/hub/index.ts";
import { type ConsumerHost, ConsumerSession } from "./consumer-session.ts";
import { listedPairs, type PairQuery, selectPairs } from "./pair-query.ts";
import type { ListedPair, PairSource } from "./pair-sources.ts";

interface ConsumersDependencies {
  readonly hub: Pick<Hub, "limits" | "stopping" | "head" | "freshness">;
  readonly clock: Clock;
}

/** Consumers with equal queries, which get the same bytes. */
interface Group {
  readonly query: PairQuery;
  readonly sessions: Set<ConsumerSession>;
  /** The list from which its pairs were selected, as JSON. */
  from: string;
  text: string;
  frame: Buffer;
}

/** How often to check whether the data is stale, which empties the lists. */
const CHECK_MS = 1_000;

/** Sent instead of an empty list, which freqtrade ignores. No exchange trades this pair. */
const NO_PAIR = "NONE/NONE";

/** Sends consumers their pairs whenever these change. Builds each frame once per query. */
export class Consumers {
  readonly #dependencies: ConsumersDependencies;
  readonly #host: ConsumerHost;
  readonly #groups = new Map<string, Group>();
  readonly #stops: readonly (() => void)[];

  constructor(dependencies: ConsumersDependencies) {
    const { hub, clock } = dependencies;
    this.#dependencies = dependencies;
    this.#host = {
      limits: hub.limits,
      monotonicMs: () => clock.monotonic(),
      frameOf: (query) => this.#groupOf(query).frame,
      gone: (session) => this.#remove(session),
    };
    const update = () => this.#update();
    this.#stops = [hub.head.onChange(update), clock.every(CHECK_MS, update)];
    hub.head.onRestart(update);
    // All at once: each freqtrade reconnects, is rejected while the server stops, and retries.
    hub.stopping.addEventListener("abort", () => this.#closeAll());
  }

  connect(socket: Socket, query: PairQuery): ConsumerSession {
    const session = new ConsumerSession(this.#host, socket, query);
    this.#groupOf(query).sessions.add(session);
    if (this.#dependencies.hub.stopping.aborted) session.close("draining");
    return session;
  }

  /** Stops the updates. Sessions close when the hub is stopping. */
  stop(): void {
    for (const stop of this.#stops) stop();
  }

  #update(): void {
    if (this.#groups.size === 0) return;
    const lists = Map.groupBy(this.#groups.values(), ({ query }) => query.list);
    for (const [list, groups] of lists) {
      const listed = this.#listedNow(list);
      const from = JSON.stringify(listed);
      // Most batches change only the values of the listed tokens.
      for (const group of groups) if (group.from !== from) publish(group, listed, from);
    }
  }

  #groupOf(query: PairQuery): Group {
    const key = JSON.stringify(query);
    const known = this.#groups.get(key);
    if (known) return known;
    const listed = this.#listedNow(query.list);
    const sessions = new Set<ConsumerSession>();
    const group = { query, sessions, from: JSON.stringify(listed), ...messageOf(listed, query) };
    this.#groups.set(key, group);
    return group;
  }

  #listedNow(list: PairSource): readonly ListedPair[] {
    const { head, freshness } = this.#dependencies.hub;
    return listedPairs(list, head.snapshot, freshness);
  }

  #remove(session: ConsumerSession): void {
    const key = JSON.stringify(session.query);
    const group = this.#groups.get(key);
    group?.sessions.delete(session);
    if (group?.sessions.size === 0) this.#groups.delete(key);
  }

  #closeAll(): void {
    for (const { sessions } of this.#groups.values())
      for (const session of sessions) session.close("draining");
  }
}

function publish(group: Group, listed: readonly ListedPair[], from: string): void {
  const { text, frame } = messageOf(listed, group.query);
  const isSame = text === group.text;
  Object.assign(group, { from, text, frame });
  if (!isSame) for (const session of group.sessions) session.publish(frame);
}

function messageOf(listed: readonly ListedPair[], query: PairQuery): { text: string; frame: Buffer } {
  const pairs = selectPairs(listed, query);
  const text = JSON.stringify({ type: "whitelist", data: pairs.length > 0 ? pairs : [NO_PAIR] });
  return { text, frame: websocketFraming.message(text) };
}
