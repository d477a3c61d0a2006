import { jsonEqual } from "../../../base/lib/json-equal.ts";
import {
  type AnyFlares,
  type Candles,
  type Flares,
  flaresKeyOf,
  GROUPS,
  type Group,
  isAdditional,
} from "../../../base/model/index.ts";
import { formatCursor, type Plan, type Snapshot, snapshotOfPlan } from "../../../base/protocol/index.ts";
import type { HeadLike } from "../../hub/index.ts";
import { Representation, versionOf } from "./representation.ts";

/** Parts of the snapshot with a path of their own. */
export const RESOURCES = ["flares", "newest", "charts", "leaderboards"] as const;
type Resource = (typeof RESOURCES)[number];

type Part = Resource | "explanations" | "outcomes";
const PARTS: readonly Part[] = [...RESOURCES, "explanations", "outcomes"];
/** Parts that differ by plan. */
const BY_PLAN: readonly Part[] = ["flares", "explanations"];
/** Parts that differ by group, each limited to that group's flares. */
const BY_GROUP: readonly Part[] = ["flares", "explanations", "outcomes"];

/** Parts with a list of each group. They have those of additional groups only on request. */
const RANKED: readonly Part[] = ["charts", "leaderboards"];

/** An object of the snapshot and the body made from it. */
interface Held {
  readonly value: unknown;
  readonly representation: Representation;
}

interface HeldCandles extends Held {
  readonly flares: Flares;
  readonly shown: Candles;
}

interface HeldSnapshot {
  readonly cursor: string;
  readonly parts: readonly Representation[];
  readonly made: Representation;
}

/**
 * Caches the bodies of the resources. Makes each at the first request after a change, once per
 * plan. A version derives from bytes and plan, not from the cursor, so unchanged parts still get
 * 304.
 */
export class ResourceBodies {
  readonly #head: HeadLike;
  readonly #held = new Map<string, Held>();
  readonly #candles = new Map<Plan | undefined, HeldCandles>();
  readonly #snapshots = new Map<string, HeldSnapshot>();
  /**
   * A snapshot and the free plan's view of it. Only the view's flares and explanations are used,
   * because its other parts may be outdated.
   */
  #free: { readonly of: Snapshot; readonly shown: Snapshot } | undefined;

  constructor(head: HeadLike) {
    this.#head = head;
  }

  /**
   * Returns the candles of the tokens whose running flares the plan sees. Changes once a minute,
   * and when a flare starts or ends.
   */
  candles(plan?: Plan): Representation {
    const { candles } = this.#head.snapshot;
    const { flares } = plan === "free" ? this.#shownFree() : this.#head.snapshot;
    const shownTo = plan === "free" ? plan : undefined;
    const held = this.#candles.get(shownTo);
    if (held?.value === candles && held.flares === flares) return held.representation;
    const running = new Set([...flares.pro, ...flares.free].map(({ token }) => token.address));
    const bsc = [...running].sort().flatMap((address) => {
      const own = Object.hasOwn(candles.bsc, address) ? candles.bsc[address] : undefined;
      return own ? [[address, own] as const] : [];
    });
    const closed_at = bsc.length > 0 ? candles.closed_at : null;
    const shown: Candles = { closed_at, bsc: Object.fromEntries(bsc) };
    const isSame = held && jsonEqual(held.shown, shown);
    const representation = isSame
      ? held.representation
      : representationOf(Buffer.from(JSON.stringify(shown)), shownTo);
    this.#candles.set(shownTo, { value: candles, flares, shown, representation });
    return representation;
  }

  /**
   * Returns the snapshot with its cursor and the flares of the group. While cursor and lists are
   * unchanged, so is the body, including `observed_at`.
   */
  snapshot(plan?: Plan, group: Group = "bsc"): Representation {
    const cursor = formatCursor(this.#head.cursor);
    const shown = plan === "free" ? plan : undefined;
    const key = withPlan(group, shown);
    const held = this.#snapshots.get(key);
    const parts = PARTS.map((name) => this.resource(name, plan, group));
    if (held?.cursor === cursor && parts.every((part, at) => part === held.parts[at])) return held.made;
    const { observedAtMs } = this.#head;
    const observedAt = new Date(observedAtMs).toISOString();
    const chunks: Buffer[] = [Buffer.from(`{"cursor":"${cursor}","observed_at":"${observedAt}"`)];
    for (const [at, part] of parts.entries()) chunks.push(Buffer.from(`,"${PARTS[at]}":`), part.bytes);
    chunks.push(Buffer.from("}"));
    const made = representationOf(Buffer.concat(chunks), shown);
    this.#snapshots.set(key, { cursor, parts, made });
    return made;
  }

  /**
   * Returns the part of the state at the head's cursor as the plan sees it; without a plan, all of
   * it. `group` selects the flares, and adds its lists if it is additional.
   */
  resource(name: Part, plan?: Plan, group: Group = "bsc"): Representation {
    const shown = plan === "free" && BY_PLAN.includes(name) ? plan : undefined;
    const snapshot = shown === undefined ? this.#head.snapshot : this.#shownFree();
    const value = snapshot[name === "flares" ? flaresKeyOf(group) : name];
    const isByGroup = BY_GROUP.includes(name) || (RANKED.includes(name) && isAdditional(group));
    const key = withPlan(isByGroup ? `${name} ${group}` : name, shown);
    const held = this.#held.get(key);
    if (held?.value === value) return held.representation;
    const bytes = Buffer.from(JSON.stringify(contentOf(snapshot, name, group)));
    const representation = held?.representation.bytes.equals(bytes)
      ? held.representation
      : representationOf(bytes, shown);
    this.#held.set(key, { value, representation });
    return representation;
  }

  #shownFree(): Snapshot {
    const of = this.#head.snapshot;
    const held = this.#free;
    if (held && FLARE_PARTS.every((part) => held.of[part] === of[part])) return held.shown;
    const shown = snapshotOfPlan(of, "free");
    this.#free = { of, shown };
    return shown;
  }
}

/** The parts of a snapshot on which the free plan's view depends. */
const FLARE_PARTS = [...GROUPS.map(flaresKeyOf), "explanations"] as const;

function contentOf(snapshot: Snapshot, name: Part, group: Group): object {
  if (name === "explanations" || name === "outcomes") return notesOf(snapshot, name, group);
  if (name === "flares") return snapshot[flaresKeyOf(group)];
  if (name === "newest") return snapshot.newest;
  const served = GROUPS.filter((one) => one === group || !isAdditional(one));
  return Object.fromEntries(served.map((one) => [one, snapshot[name][one]]));
}

/**
 * Returns the explanations or outcomes of a group's flares. Sorts by key: a follower orders by
 * arrival, and equal versions need equal bytes.
 */
function notesOf(snapshot: Snapshot, name: "explanations" | "outcomes", group: Group): object {
  const lists: AnyFlares = snapshot[flaresKeyOf(group)];
  const ids = new Set<string>();
  for (const list of [lists.pro, lists.free, lists.finished_trending]) for (const { id } of list) ids.add(id);
  const own = Object.entries(snapshot[name]).filter(([id]) => ids.has(id));
  return Object.fromEntries(own.sort(([a], [b]) => (a < b ? -1 : 1)));
}

function representationOf(bytes: Buffer, plan: Plan | undefined): Representation {
  return new Representation(bytes, withPlan(versionOf(bytes), plan));
}

function withPlan(text: string, plan: Plan | undefined): string {
  return plan === undefined ? text : `${text}-${plan}`;
}
