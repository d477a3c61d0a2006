import { type Step, touchedBy } from "../protocol/index.ts";
import type { ChannelMask } from "./channel-mask.ts";
import type { Group } from "./group.ts";

/** Which events of a batch may concern a group, as their indices in order; `undefined`: any. */
export type AffectedIndices = readonly number[] | undefined;

/**
 * All groups, found by what they follow: those that ask for certain tokens or symbols only are not looked at while others move, however many there are, and when they
 * are, it is at the events that do something to these.
 */
export class GroupIndex {
  readonly #groups = new Map<string, Group>();
  /** Those that any event of their channels may concern. */
  readonly #general = new Set<Group>();
  /** The others, by each name that they ask for. */
  readonly #named = new Map<string, Set<Group>>();

  /** All of them, as they are now. */
  all(): readonly Group[] {
    return [...this.#groups.values()];
  }

  get(key: string): Group | undefined {
    return this.#groups.get(key);
  }

  add(group: Group): void {
    this.#groups.set(group.shape.key, group);
    const names = namesOf(group);
    if (!names) this.#general.add(group);
    for (const name of names ?? []) {
      const those = this.#named.get(name) ?? new Set();
      this.#named.set(name, those.add(group));
    }
  }

  delete(group: Group): void {
    this.#groups.delete(group.shape.key);
    this.#general.delete(group);
    for (const name of namesOf(group) ?? []) {
      const those = this.#named.get(name);
      those?.delete(group);
      if (those?.size === 0) this.#named.delete(name);
    }
  }

  /** The groups that may have to be told of a batch on these channels, and of what in it. */
  concerned(mask: ChannelMask, steps: readonly Step[]): ReadonlyMap<Group, AffectedIndices> {
    const concerned = new Map<Group, number[] | undefined>();
    for (const group of this.#general) if (group.shape.selection.mask & mask) concerned.set(group, undefined);
    if (this.#named.size === 0) return concerned;
    for (const [at, step] of steps.entries()) {
      const { tokens, symbols } = touchedBy(step);
      for (const name of [...tokens.map(tokenName), ...symbols.map(symbolName)]) {
        for (const group of this.#named.get(name) ?? []) {
          const indices = concerned.get(group);
          if (!indices) concerned.set(group, [at]);
          else if (indices.at(-1) !== at) indices.push(at);
        }
      }
    }
    return concerned;
  }
}

const tokenName = (token: string) => `token ${token}`;
const symbolName = (symbol: string) => `symbol ${symbol}`;

/** The names without which the group is sent nothing; `undefined` when it is sent something else too. */
function namesOf({ shape }: Group): readonly string[] | undefined {
  const { parts, channels } = shape.selection;
  if (parts.length === 0 || channels.includes("status")) return undefined;
  const names = new Set<string>();
  for (const { filter } of parts) {
    // Who names both selects items that have one of each: those are found by either.
    const own = filter?.tokens
      ? [...filter.tokens].map(tokenName)
      : [...(filter?.symbols ?? [])].map(symbolName);
    if (own.length === 0) return undefined;
    for (const name of own) names.add(name);
  }
  return [...names];
}
