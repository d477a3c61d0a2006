import { BoundedMap } from "../../base/lib/bounded-map.ts";
import { firstIssue } from "../../base/lib/text/first-issue.ts";

/** Maximum number of reasons that are counted. */
const MAX_REASONS = 100;
/** Number of items after which earlier ones count half. */
const RECENT = 64;

/** Counts what a service sent that cannot be read, by kind of item and by reason. */
export class Unread {
  readonly #counts = new BoundedMap<string, number>(MAX_REASONS);
  readonly #recent = new Map<string, { good: number; bad: number; reason: string }>();

  /** Records a readable item of that kind, such as `trades`. */
  good(what: string): void {
    this.#recentOf(what).good += 1;
  }

  /** Records an unreadable item: `price is missing`. */
  bad(what: string, reason: string): void {
    const recent = this.#recentOf(what);
    recent.bad += 1;
    recent.reason = reason;
    this.count(what, reason);
  }

  /** Records a list that is read as a whole, with the reason of one of its unreadable items. */
  list(what: string, good: number, bad: number, reason: string): void {
    this.#recent.set(what, { good, bad, reason });
  }

  /** Counts something unreadable that causes a failure of its own. */
  count(what: string, reason: string): void {
    const key = `${what}: ${reason}`;
    this.#counts.set(key, (this.#counts.get(key) ?? 0) + 1);
  }

  /** Numbers of unreadable items, by reason. */
  get counts(): Readonly<Record<string, number>> {
    return Object.fromEntries(this.#counts);
  }

  /** Says which kind of item is mostly unreadable, as the second half of a sentence. */
  get complaint(): string | undefined {
    for (const [what, { good, bad, reason }] of this.#recent)
      if (bad > good) return `sends ${what} that cannot be read: ${reason}`;
    return undefined;
  }

  #recentOf(what: string): { good: number; bad: number; reason: string } {
    const recent = this.#recent.get(what) ?? { good: 0, bad: 0, reason: "" };
    this.#recent.set(what, recent);
    if (recent.good + recent.bad >= RECENT) {
      recent.good /= 2;
      recent.bad /= 2;
    }
    return recent;
  }
}

/** Says what a schema's first issue is: `volume.m5 is null`. */
export function reasonOf(error: Parameters<typeof firstIssue>[0], value: unknown): string {
  const { field, found } = firstIssue(error, value);
  return faultOf(field, found);
}

/** Says why a field's value cannot be read. */
export function faultOf(field: string, found: unknown): string {
  const name = field === "" ? "it" : field;
  if (found === undefined) return `${name} is missing`;
  return found === null ? `${name} is null` : `${name} is invalid`;
}
