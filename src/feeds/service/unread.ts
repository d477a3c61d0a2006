import { firstIssue } from "../../base/lib/text/first-issue.ts";

/** Maximum number of reasons that are counted. Further ones count as other ones of their kind. */
const MAX_REASONS = 100;
/** A part of a path that is shown, and the maximum length of a path. */
const NAME = /^[A-Za-z_]\w{0,30}$/;
const MAX_FIELD = 100;
/** Number of items after which earlier ones count half. */
const RECENT = 64;

/** Counts what a service sent that cannot be read, by kind of item and by reason. */
export class Unread {
  readonly #counts = new Map<string, number>();
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
    const own = `${what}: ${reason}`;
    // A dropped counter would start again at zero.
    const key = this.#counts.has(own) || this.#counts.size < MAX_REASONS ? own : `${what}: other`;
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

/**
 * Says what a schema's first issue is: `volume.m5 is null`. The path may contain a service's own
 * text. So `*` stands for each part that is not a short name, and for an index.
 */
export function reasonOf(error: Parameters<typeof firstIssue>[0], value: unknown): string {
  const { field, found } = firstIssue(error, value);
  const parts = field.split(".").map((part) => (NAME.test(part) ? part : "*"));
  return faultOf(field === "" ? "" : parts.join(".").slice(0, MAX_FIELD), found);
}

/** Says why a field's value cannot be read. */
export function faultOf(field: string, found: unknown): string {
  const name = field === "" ? "it" : field;
  if (found === undefined) return `${name} is missing`;
  return found === null ? `${name} is null` : `${name} is invalid`;
}
