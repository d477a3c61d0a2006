import type { HistoryReader } from "../../history/index.ts";
import { BoundedMap } from "../../lib/bounded-map.ts";
import { DAY_MS, MINUTE_MS } from "../../lib/time/time.ts";
import { type FlareRecord, GROUPS, type Group, type Snapshot, TOKEN_FLARES } from "../../model/index.ts";
import { FlarewireError, type Plan } from "../../protocol/index.ts";
import { quote } from "../connections/admission.ts";
import type { HeadLike } from "../connections/head-like.ts";
import { Representation, versionOf } from "../rest/representation.ts";
import { StampedCache } from "./stamped-cache.ts";
import { detailsOf, minuteOf, type StoredToken } from "./token-details.ts";
import { type ListedToken, TokenIndex } from "./token-index.ts";

interface TokenParts {
  readonly head: HeadLike;
  readonly history: Pick<HistoryReader, "flaresVersion" | "page" | "started" | "candles" | "addressesOf">;
}

interface Made {
  readonly snapshot: Snapshot;
  readonly stored: StoredToken;
  readonly body: Representation;
}

/** Finds the token that a request names, among those in the snapshot's lists and the history. */
type Resolve = (snapshot: Snapshot) => string;

/** Cached tokens, each of up to 1 MB with its compressed forms, though few flare all day. */
const MAX_TOKENS = 32;
const MAX_SYMBOLS = 256;
/** Addresses that a problem lists. */
const MAX_LISTED = 20;
const ADDRESS = /^0x[0-9a-f]+$/i;
const NOTHING: StoredToken = { records: [], starts: new Map(), candles: [] };

/**
 * Prepares the bodies of tokens. The history of a token is read once per minute and change of the
 * history or of its flares, a body made once per change of the lists.
 */
export class TokenBodies {
  readonly #parts: TokenParts;
  readonly #indexes = new WeakMap<Snapshot, Map<Group, TokenIndex>>();
  readonly #addresses = new StampedCache<readonly string[]>(MAX_SYMBOLS);
  readonly #stored = new StampedCache<StoredToken>(MAX_TOKENS);
  readonly #made = new BoundedMap<string, Made>(MAX_TOKENS);

  constructor(parts: TokenParts) {
    this.#parts = parts;
  }

  /**
   * Reads what is stored of the token, and returns a function of what the plan shows. Both throw
   * `not-found` unless the name belongs to one token.
   */
  async read(
    given: { readonly group: string; readonly token: string },
    shown: Snapshot,
    plan: Plan | undefined,
  ): Promise<(shown: Snapshot) => Representation> {
    const group = readGroup(given.group);
    const resolve = await this.#resolver(group, given.token);
    const identity = resolve(shown);
    const stored = group === "bsc" ? await this.#read(identity) : NOTHING;
    return (snapshot) => {
      const now = resolve(snapshot);
      if (now !== identity) throw ambiguous(group, given.token, [identity, now]);
      const body = this.#bodyOf(group, identity, snapshot, stored, plan);
      if (body) return body;
      this.#stored.drop(identity);
      throw unknown(group, given.token);
    };
  }

  async #resolver(group: Group, key: string): Promise<Resolve> {
    // Never a symbol: it could be that of a token that poses as another.
    if (group !== "exchange" && ADDRESS.test(key)) return () => key.toLowerCase();
    const { history } = this.#parts;
    const read = () => history.addressesOf(key, MAX_LISTED + 1);
    const stored = group === "bsc" ? await this.#addresses.get(key.toLowerCase(), this.#stamp(), read) : [];
    return (snapshot) => {
      const index = this.#indexOf(group, snapshot);
      if (index.find(key)) return key;
      const found = [...new Set([...index.identitiesOf(key), ...stored])];
      const [only, ...others] = found;
      if (only === undefined) throw unknown(group, key);
      if (others.length > 0) throw ambiguous(group, key, found);
      return only;
    };
  }

  async #read(address: string): Promise<StoredToken> {
    const { head } = this.#parts;
    const listed = this.#indexOf("bsc", head.snapshot).find(address);
    const flares = listed?.flares.map(({ id, finished_trending_at: end }) => `${id} ${end}`).join() ?? "";
    const stored = await this.#stored.get(address, `${this.#stamp()} ${flares}`, () =>
      this.#readStored(address, listed),
    );
    if (this.#isBehind(listed, stored)) this.#stored.drop(address);
    return stored;
  }

  async #readStored(address: string, listed: ListedToken | undefined): Promise<StoredToken> {
    const { head, history } = this.#parts;
    const toMs = minuteOf(head.observedAtMs);
    const running = listed?.flares.filter((flare) => flare.finished_trending_at === null) ?? [];
    const [records, candles, starts] = await Promise.all([
      history.page({ address, limit: TOKEN_FLARES }),
      history.candles({ group: "bsc", address, fromMs: toMs - DAY_MS, toMs }),
      Promise.all(running.map(async ({ id }) => [id, await history.started(id)] as const)),
    ]);
    return {
      records: records.map(({ body }) => JSON.parse(body) as FlareRecord),
      starts: new Map(starts.flatMap(([id, why]) => (why === undefined ? [] : [[id, why]]))),
      candles,
    };
  }

  /** Returns whether the history lacks what the lists have had for less than a minute. */
  #isBehind(listed: ListedToken | undefined, { records, starts }: StoredToken): boolean {
    const nowMs = this.#parts.head.observedAtMs;
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
    plan: Plan | undefined,
  ): Representation | undefined {
    const key = `${group} ${plan} ${identity}`;
    const made = this.#made.get(key);
    if (made?.snapshot === snapshot && made.stored === stored) return made.body;
    const listed = this.#indexOf(group, snapshot).find(identity);
    const nowMs = this.#parts.head.observedAtMs;
    const details = detailsOf({ group, identity, listed, stored, snapshot, nowMs });
    if (!details) return undefined;
    const bytes = Buffer.from(JSON.stringify(details));
    const body = made?.body.bytes.equals(bytes) ? made.body : new Representation(bytes, versionOf(bytes));
    this.#made.set(key, { snapshot, stored, body });
    return body;
  }

  #indexOf(group: Group, snapshot: Snapshot): TokenIndex {
    const known = this.#indexes.get(snapshot) ?? new Map<Group, TokenIndex>();
    this.#indexes.set(snapshot, known);
    const index = known.get(group) ?? new TokenIndex(group, snapshot);
    known.set(group, index);
    return index;
  }

  /** The history of another process has no version here: it is read again each minute. */
  #stamp(): string {
    const { head, history } = this.#parts;
    return `${history.flaresVersion} ${minuteOf(head.observedAtMs)}`;
  }
}

function readGroup(given: string): Group {
  const group = GROUPS.find((name) => name === given);
  if (group) return group;
  const bound = `one of ${GROUPS.join(", ")}`;
  throw new FlarewireError("not-found", `there is no group ${quote(given)}; it must be ${bound}`, {
    field: "group",
    bound,
  });
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
    `several tokens of ${group} have the symbol ${quote(key)}; it must be ${bound}`,
    {
      field: "token",
      bound,
    },
  );
}
