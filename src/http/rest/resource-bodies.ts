import { jsonEqual } from "../../lib/json-equal.ts";
import type { Candles, Flares } from "../../model/index.ts";
import { formatCursor, type Plan, type Snapshot, snapshotOfPlan } from "../../protocol/index.ts";
import type { HeadLike } from "../connections/head-like.ts";
import { Representation, versionOf } from "./representation.ts";

/** Parts of the snapshot with a path of their own. */
export const RESOURCES = ["flares", "newest", "charts", "leaderboards"] as const;
type Resource = (typeof RESOURCES)[number];

type Part = Resource | "explanations" | "outcomes";
const PARTS: readonly Part[] = [...RESOURCES, "explanations", "outcomes"];
/** Parts that differ by plan. */
const BY_PLAN: readonly Part[] = ["flares", "explanations"];

/** Values derived from an object of the snapshot. */
interface Held {
  readonly value: unknown;
  readonly representation: Representation;
}

interface HeldCandles extends Held {
  readonly flares: Flares;
  readonly shown: Candles;
}

interface PrimaryServices {
  readonly cursor: string;
  readonly snapshot: Snapshot;
  readonly made: Representation;
}

/**
 * Caches the bodies of REST, made once per change and plan at the first request. A version derives
 * from bytes and plan, not from the cursor, which would differ in each process: unchanged parts
 * keep giving 304.
 */
export class ResourceBodies {
  readonly #head: HeadLike;
  readonly #held = new Map<string, Held>();
  readonly #candles = new Map<Plan | undefined, HeldCandles>();
  readonly #wholes = new Map<Plan | undefined, PrimaryServices>();
  /** The plan free's view of a snapshot with these flares and explanations. */
  #free: { readonly of: Snapshot; readonly shown: Snapshot } | undefined;

  constructor(head: HeadLike) {
    this.#head = head;
  }

  /** Returns the resource at the head's cursor as the plan sees it; without a plan, all of it. */
  resource(name: Resource, plan?: Plan): Representation {
    return this.#part(name, plan);
  }

  /** The candles of the tokens whose flares the plan sees. Changes once a minute and at starts. */
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
    const representation = isSame ? held.representation : representationOf(JSON.stringify(shown), shownTo);
    this.#candles.set(shownTo, { value: candles, flares, shown, representation });
    return representation;
  }

  /** The snapshot with its cursor. `observed_at` stays while nothing changes, and so the body. */
  snapshot(plan?: Plan): Representation {
    const { snapshot } = this.#head;
    const cursor = formatCursor(this.#head.cursor);
    const shown = plan === "free" ? plan : undefined;
    const whole = this.#wholes.get(shown);
    if (whole?.cursor === cursor && PARTS.every((name) => snapshot[name] === whole.snapshot[name]))
      return whole.made;
    const { observedAtMs } = this.#head;
    const observedAt = new Date(observedAtMs).toISOString();
    const chunks: Buffer[] = [Buffer.from(`{"cursor":"${cursor}","observed_at":"${observedAt}"`)];
    for (const name of PARTS) chunks.push(Buffer.from(`,"${name}":`), this.#part(name, plan).bytes);
    chunks.push(Buffer.from("}"));
    const bytes = Buffer.concat(chunks);
    const made = new Representation(bytes, withPlan(versionOf(bytes), shown));
    this.#wholes.set(shown, { cursor, snapshot, made });
    return made;
  }

  #part(name: Part, plan: Plan | undefined): Representation {
    const shown = plan === "free" && BY_PLAN.includes(name) ? plan : undefined;
    const value = shown === undefined ? this.#head.snapshot[name] : this.#shownFree()[name];
    const key = withPlan(name, shown);
    const held = this.#held.get(key);
    if (held?.value === value) return held.representation;
    const bytes = Buffer.from(
      JSON.stringify(name === "explanations" || name === "outcomes" ? byKey(value) : value),
    );
    const representation = held?.representation.bytes.equals(bytes)
      ? held.representation
      : new Representation(bytes, withPlan(versionOf(bytes), shown));
    this.#held.set(key, { value, representation });
    return representation;
  }

  #shownFree(): Snapshot {
    const of = this.#head.snapshot;
    const held = this.#free;
    if (held && held.of.flares === of.flares && held.of.explanations === of.explanations) return held.shown;
    const shown = snapshotOfPlan(of, "free");
    this.#free = { of, shown };
    return shown;
  }
}

/** Sorts by key: a follower orders by arrival, and equal versions need equal bytes. */
function byKey(value: object): object {
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

function representationOf(text: string, plan: Plan | undefined): Representation {
  const bytes = Buffer.from(text);
  return new Representation(bytes, withPlan(versionOf(bytes), plan));
}

function withPlan(text: string, plan: Plan | undefined): string {
  return plan === undefined ? text : `${text}-${plan}`;
}
