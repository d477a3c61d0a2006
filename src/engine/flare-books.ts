import {
  byGroup,
  type Explanation,
  flaresKeyOf,
  GROUPS,
  groupOf,
  type Outcome,
  type Snapshot,
} from "../base/model/index.ts";
import type { DetectorSettings } from "./settings.ts";
import type { TokenState } from "./state/token-state.ts";
import { type FinishedFlare, FlareBook, type ServedFlares } from "./views/flares.ts";
import { reuseRecordIfSame } from "./views/reuse.ts";

type Served = Pick<Snapshot, ReturnType<typeof flaresKeyOf> | "explanations" | "outcomes">;

/** Maintains the flares of all groups. See {@link FlareBook}. */
export class FlareBooks {
  readonly #books: Readonly<Record<TokenState["group"], FlareBook>>;
  readonly #all: readonly FlareBook[];
  #served: Served | undefined;
  #parts: readonly ServedFlares[] = [];

  /** @param finished From a checkpoint, in each group the oldest finish first. */
  constructor(settings: DetectorSettings, finished: readonly FinishedFlare[] = []) {
    const finishedOf = (group: TokenState["group"]) =>
      finished.filter(({ flare }) => groupOf(flare) === group);
    this.#books = byGroup((group) => new FlareBook(settings, finishedOf(group)));
    this.#all = GROUPS.map((group) => this.#books[group]);
  }

  get isDirty(): boolean {
    return this.#all.some(({ isDirty }) => isDirty);
  }

  get runningCount(): number {
    return this.#all.reduce((sum, { runningCount }) => sum + runningCount, 0);
  }

  /** The finished flares that are still listed, in each group the oldest finish first. */
  get finished(): readonly FinishedFlare[] {
    return this.#all.flatMap(({ finished }) => finished);
  }

  /** The earliest {@link FlareBook.deadlineMs}. */
  get deadlineMs(): number {
    return Math.min(...this.#all.map(({ deadlineMs }) => deadlineMs));
  }

  /** Returns the book of the token's group. */
  of({ group }: TokenState): FlareBook {
    return this.#books[group];
  }

  setOutcome(id: string, outcome: Outcome): void {
    for (const book of this.#all) book.setOutcome(id, outcome);
  }

  refresh(atMs: number, explain: (token: TokenState) => Explanation): void {
    for (const book of this.#all) book.refresh(atMs, explain);
  }

  step(atMs: number): void {
    for (const book of this.#all) book.step(atMs);
  }

  /**
   * Returns the lists, explanations and outcomes. Unchanged ones are the same objects as before.
   */
  serve(): Served {
    const parts = this.#all.map((book) => book.serve());
    const before = this.#served;
    if (before && parts.every((part, index) => part === this.#parts[index])) return before;
    this.#parts = parts;
    const merged = <T>(known: Record<string, T> | undefined, of: (part: ServedFlares) => Record<string, T>) =>
      reuseRecordIfSame<T>(known, Object.assign({}, ...parts.map(of)));
    this.#served = {
      ...inFormOfGroups(parts),
      explanations: merged(before?.explanations, ({ explanations }) => explanations),
      outcomes: merged(before?.outcomes, ({ outcomes }) => outcomes),
    };
    return this.#served;
  }
}

/** A book renders all of its flares in its group's form. */
function inFormOfGroups(parts: readonly ServedFlares[]) {
  const entries = GROUPS.map((group, index) => [flaresKeyOf(group), parts[index]?.flares]);
  return Object.fromEntries(entries) as Pick<Snapshot, ReturnType<typeof flaresKeyOf>>;
}
