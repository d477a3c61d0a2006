import { safeLink } from "../../base/lib/text/safe-text.ts";
import { isRecord } from "../../base/lib/untrusted-json.ts";
import type { MarketGroup } from "../../base/market/index.ts";
import { type Flare, keyOf, type NestedFlare, type Snapshot } from "../../base/model/index.ts";

/** Returns the id of a token's nested flare before its first flare. Addresses are in lower case. */
export type NeverFlaredId = (group: MarketGroup, token: string) => string;

/**
 * Prepares snapshots for serving: unsafe links become `null`, and charts and leaderboards reveal no
 * flare that only `pro` has listed. Unchanged parts are the same objects.
 */
export class UpstreamView {
  readonly #cleaned = new WeakMap<object, unknown>();
  /** Ids of listed flares that every plan has seen. */
  #public: ReadonlySet<string> = new Set();
  #last: { readonly source: Snapshot; readonly view: Snapshot } | undefined;
  readonly #neverFlaredId: NeverFlaredId;

  constructor(neverFlaredId: NeverFlaredId) {
    this.#neverFlaredId = neverFlaredId;
  }

  of(source: Snapshot): Snapshot {
    if (this.#last?.source === source) return this.#last.view;
    const { free, pro, finished_trending } = source.flares;
    const before = pro.filter(({ id }) => this.#public.has(id));
    this.#public = new Set([...free, ...finished_trending, ...before].map(({ id }) => id));
    const view = concealPro(this.#clean(source), this.#public, this.#neverFlaredId);
    this.#last = { source, view };
    return view;
  }

  #clean<T>(value: T): T {
    if (typeof value !== "object" || value === null) return value;
    if (this.#cleaned.has(value)) return this.#cleaned.get(value) as T;
    let isSame = true;
    const entries = Object.entries(value).map(([name, part]) => {
      const cleaned: unknown = isUnsafe(name, part) ? null : this.#clean(part);
      isSame &&= cleaned === part;
      return [name, cleaned] as const;
    });
    const copy = Array.isArray(value) ? entries.map(([, part]) => part) : Object.fromEntries(entries);
    const cleaned = (isSame ? value : copy) as T;
    this.#cleaned.set(value, cleaned);
    return cleaned;
  }
}

/** Whether a link is unsafe. A forum post, which requires one, is removed completely. */
function isUnsafe(name: string, value: unknown): boolean {
  if (name === "forum_post") return isRecord(value) && safeLink(String(value.url)) === undefined;
  return /(^|_)url$/.test(name) && typeof value === "string" && safeLink(value) === undefined;
}

/** Charts and leaderboards serve every plan: they must not show a flare of `pro`. */
function concealPro(
  snapshot: Snapshot,
  publicIds: ReadonlySet<string>,
  neverFlaredId: NeverFlaredId,
): Snapshot {
  const { flares, charts, leaderboards } = snapshot;
  const secret = new Map(flares.pro.filter(({ id }) => !publicIds.has(id)).map((flare) => [flare.id, flare]));
  const isSecret = ({ id }: NestedFlare) => secret.has(id);
  if (
    !charts.bsc.some(({ flare }) => isSecret(flare)) &&
    !leaderboards.bsc.some(({ object }) => isSecret(object))
  )
    return snapshot;
  const charted = new Set(charts.bsc.map(({ flare }) => flare.token.address));
  const conceal = (nested: NestedFlare) => {
    const { address } = nested.token;
    return withoutFlare(nested, secret.get(nested.id), charted.has(address), neverFlaredId);
  };
  const chart = charts.bsc.map((item) => ({ ...item, flare: conceal(item.flare) }));
  const board = new Map(
    leaderboards.bsc
      .map((entry) => ({ ...entry, object: conceal(entry.object) }))
      .map((entry) => [keyOf(entry), entry]),
  );
  return {
    ...snapshot,
    charts: { ...charts, bsc: chart },
    leaderboards: { ...leaderboards, bsc: [...board.values()] },
  };
}

/** Returns the token as if this flare had not started. */
function withoutFlare(
  nested: NestedFlare,
  flare: Flare | undefined,
  isCharted: boolean,
  neverFlaredId: NeverFlaredId,
): NestedFlare {
  if (!flare) return nested;
  const { token, last_relevant_at, last_irrelevant_at } = nested;
  const wasBefore = last_relevant_at < flare.started_trending_at;
  return {
    ...nested,
    id: neverFlaredId("bsc", token.address.toLowerCase()),
    relevant: isCharted,
    last_relevant_at: wasBefore ? last_relevant_at : last_irrelevant_at,
  };
}
