import { reuseRecordIfSame } from "../base/lib/reuse.ts";
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
import { type FinishedFlare, GroupFlares, type ServedFlares } from "./views/group-flares.ts";

type Served = Pick<Snapshot, ReturnType<typeof flaresKeyOf> | "explanations" | "outcomes">;

/** Maintains the flares of all groups. See {@link GroupFlares}. */
export class AllFlares {
  readonly #groups: Readonly<Record<TokenState["group"], GroupFlares>>;
  readonly #all: readonly GroupFlares[];
  #served: Served | undefined;
  #listed: readonly ServedFlares[] = [];

  /** @param finished From a checkpoint, in each group the oldest finish first. */
  constructor(settings: DetectorSettings, finished: readonly FinishedFlare[] = []) {
    const finishedOf = (group: TokenState["group"]) =>
      finished.filter(({ flare }) => groupOf(flare) === group);
    this.#groups = byGroup((group) => new GroupFlares(settings, finishedOf(group)));
    this.#all = GROUPS.map((group) => this.#groups[group]);
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

  /** The earliest {@link GroupFlares.deadlineMs}. */
  get deadlineMs(): number {
    return Math.min(...this.#all.map(({ deadlineMs }) => deadlineMs));
  }

  of({ group }: TokenState): GroupFlares {
    return this.#groups[group];
  }

  setOutcome(id: string, outcome: Outcome): void {
    for (const flares of this.#all) flares.setOutcome(id, outcome);
  }

  refresh(atMs: number, explain: (token: TokenState) => Explanation): void {
    for (const flares of this.#all) flares.refresh(atMs, explain);
  }

  step(atMs: number): void {
    for (const flares of this.#all) flares.step(atMs);
  }

  /**
   * Returns the lists, explanations and outcomes. Unchanged ones are the same objects as before.
   */
  serve(): Served {
    const listed = this.#all.map((flares) => flares.serve());
    const before = this.#served;
    if (before && listed.every((one, index) => one === this.#listed[index])) return before;
    this.#listed = listed;
    const merged = <T>(was: Record<string, T> | undefined, of: (one: ServedFlares) => Record<string, T>) =>
      reuseRecordIfSame<T>(was, Object.assign({}, ...listed.map(of)));
    this.#served = {
      ...listsOf(listed),
      explanations: merged(before?.explanations, ({ explanations }) => explanations),
      outcomes: merged(before?.outcomes, ({ outcomes }) => outcomes),
    };
    return this.#served;
  }
}

/** Each group's flares have its own schema, which the type of the entries loses. */
function listsOf(listed: readonly ServedFlares[]) {
  const entries = GROUPS.map((group, index) => [flaresKeyOf(group), listed[index]?.flares]);
  return Object.fromEntries(entries) as Pick<Snapshot, ReturnType<typeof flaresKeyOf>>;
}
