import { StampedCache } from "../../../base/lib/stamped-cache.ts";
import { DAY_MS, MINUTE_MS, startOf } from "../../../base/lib/time/time.ts";
import {
  type FlareRecord,
  GROUPS,
  type Group,
  groupSuggestion,
  isNameIn,
  normalizeAddress,
  type Snapshot,
  TOKEN_FLARES,
} from "../../../base/model/index.ts";
import { groupedKey } from "../../../base/model/token-key.ts";
import { FlarewireError } from "../../../base/protocol/index.ts";
import { type HeadLike, quote, type Representation, represent } from "../../../gateway/http/index.ts";
import type { HistoryReader } from "../index.ts";
import { detailsOf, type StoredToken } from "./token-details.ts";
import { type ListedToken, TokenIndex } from "./token-index.ts";

interface TokenBodiesDependencies {
  readonly head: HeadLike;
  readonly history: Pick<HistoryReader, "flaresVersion" | "page" | "started" | "candles" | "tokensOf">;
}

/** Returns the identity of the requested token, from the snapshot's lists and the history. */
type Resolve = (snapshot: Snapshot) => string;

/**
 * Maximum memory of cached histories: a day of candles takes 430 kB, though few tokens flare all
 * day.
 */
const MAX_BYTES = 8 * 2 ** 20;
/** Memory of a parsed flare record, and of a candle. */
const RECORD_BYTES = 5_000;
const CANDLE_BYTES = 300;
/** Maximum addresses that a problem lists. */
const MAX_LISTED = 20;

/**
 * Makes bodies of tokens. Reads a token's history once per minute of event time, and again when
 * stored flares or the token's listed ones change.
 */
export class TokenBodies {
  readonly #dependencies: TokenBodiesDependencies;
  readonly #indexes = new WeakMap<Snapshot, Map<Group, TokenIndex>>();
  readonly #stored: StampedCache<StoredToken>;

  /** `maxBytes`: maximum memory of cached histories; 0 caches none. */
  constructor(dependencies: TokenBodiesDependencies, maxBytes = MAX_BYTES) {
    this.#dependencies = dependencies;
    this.#stored = new StampedCache(
      maxBytes,
      ({ records, candles }) => RECORD_BYTES * records.length + CANDLE_BYTES * candles.length,
    );
  }

  /**
   * Reads the token's stored data. Returns a function that creates the body from a plan's view of a
   * snapshot. Both fail with `not-found` unless the group exists and the name belongs to exactly
   * one of its tokens.
   */
  async read(
    given: { readonly group: string; readonly token: string },
    shown: Snapshot,
  ): Promise<(shown: Snapshot) => Representation> {
    const group = readGroup(given.group);
    const resolve = await this.#resolver(group, given.token);
    const identity = resolve(shown);
    const stored = await this.#read(group, identity);
    return (snapshot) => {
      const now = resolve(snapshot);
      if (now !== identity) throw ambiguous(group, given.token, [identity, now]);
      const body = this.#bodyOf(group, identity, snapshot, stored);
      if (body) return body;
      this.#stored.drop(groupedKey({ group, token: identity }));
      throw unknown(group, given.token);
    };
  }

  async #resolver(group: Group, key: string): Promise<Resolve> {
    // Never a symbol, because a fake token could have the address of another as its symbol.
    const address = normalizeAddress(group, key);
    if (group !== "exchange" && isNameIn(group, address)) return () => address;
    const { history } = this.#dependencies;
    const stored = await history.tokensOf({ group, symbol: key, limit: MAX_LISTED + 1 });
    return (snapshot) => {
      const index = this.#indexOf(group, snapshot);
      // An exact match: on the exchange, two symbols may differ only in case.
      if (index.find(key) || stored.includes(key)) return key;
      const found = [...new Set([...index.identitiesOf(key), ...stored])];
      const [only, ...others] = found;
      if (only === undefined) throw unknown(group, key);
      if (others.length > 0) throw ambiguous(group, key, found);
      return only;
    };
  }

  async #read(group: Group, identity: string): Promise<StoredToken> {
    const { head, history } = this.#dependencies;
    const listed = () => this.#indexOf(group, head.snapshot).find(identity);
    const now = () => {
      const flares = listed()?.flares.map(({ id, finished_trending_at: end }) => `${id} ${end}`) ?? [];
      return `${history.flaresVersion} ${startOf(MINUTE_MS, head.observedAtMs)} ${flares}`;
    };
    const key = groupedKey({ group, token: identity });
    const stored = await this.#stored.read(key, now, () => this.#readStored(group, identity, listed()));
    if (this.#isBehind(listed(), stored)) this.#stored.drop(key);
    return stored;
  }

  async #readStored(group: Group, address: string, listed: ListedToken | undefined): Promise<StoredToken> {
    const { head, history } = this.#dependencies;
    const toMs = startOf(MINUTE_MS, head.observedAtMs);
    const running = listed?.flares.filter((flare) => flare.finished_trending_at === null) ?? [];
    const [records, candles, starts] = await Promise.all([
      history.page({ group, address, limit: TOKEN_FLARES }),
      // Only BSC has candles. For other groups, reading past ones could fail as expired.
      group === "bsc" ? history.candles({ group, address, fromMs: toMs - DAY_MS, toMs }) : [],
      Promise.all(running.map(async ({ id }) => [id, await history.started(id)] as const)),
    ]);
    return {
      records: records.map(({ body }) => JSON.parse(body) as FlareRecord),
      starts: new Map(starts.flatMap(([id, why]) => (why === undefined ? [] : [[id, why]]))),
      candles,
    };
  }

  /** Whether the history lacks a start or finish of the last minute that the lists have. */
  #isBehind(listed: ListedToken | undefined, { records, starts }: StoredToken): boolean {
    const nowMs = this.#dependencies.head.observedAtMs;
    return (listed?.flares ?? []).some(({ id, started_trending_at: start, finished_trending_at: end }) => {
      const isStored = end === null ? starts.has(id) : records.some(({ flare }) => flare.id === id);
      return !isStored && nowMs - Date.parse(end ?? start) < MINUTE_MS;
    });
  }

  #bodyOf(
    group: Group,
    identity: string,
    snapshot: Snapshot,
    stored: StoredToken,
  ): Representation | undefined {
    const listed = this.#indexOf(group, snapshot).find(identity);
    const nowMs = this.#dependencies.head.observedAtMs;
    const details = detailsOf({ group, identity, listed, stored, snapshot, nowMs });
    return details && represent(JSON.stringify(details));
  }

  #indexOf(group: Group, snapshot: Snapshot): TokenIndex {
    const known = this.#indexes.get(snapshot) ?? new Map<Group, TokenIndex>();
    this.#indexes.set(snapshot, known);
    const index = known.get(group) ?? new TokenIndex(group, snapshot);
    known.set(group, index);
    return index;
  }
}

function readGroup(given: string): Group {
  const group = GROUPS.find((name) => name === given);
  if (group) return group;
  const bound = `one of ${GROUPS.join(", ")}`;
  const message = `there is no group ${quote(given)}${groupSuggestion(given)}; it must be ${bound}`;
  throw new FlarewireError("not-found", message, { field: "group", bound });
}

function unknown(group: Group, key: string): FlarewireError {
  return new FlarewireError("not-found", `no token ${quote(key)} of ${group} is listed or stored`, {
    field: "token",
  });
}

function ambiguous(group: Group, key: string, found: readonly string[]): FlarewireError {
  const more = found.length > MAX_LISTED ? ", …" : "";
  const bound = `one of ${found.slice(0, MAX_LISTED).join(", ")}${more}`;
  return new FlarewireError(
    "not-found",
    `several tokens of ${group} have the symbol ${quote(key)}; token must be ${bound}`,
    {
      field: "token",
      bound,
    },
  );
}
