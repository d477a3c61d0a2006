import { isListChannel, type Step, touchedBy } from "../../base/protocol/index.ts";
import type { ChannelMask } from "./channel-mask.ts";
import type { Group } from "./group.ts";

/** Indices, in order, of the events in a batch that may affect a group; `undefined`: all events. */
type AffectedIndices = readonly number[] | undefined;

/**
 * Finds the groups that a batch may affect. Groups are indexed by the tokens and symbols in their
 * filters, so a group costs nothing if the batch has none of them.
 */
export class GroupIndex {
  readonly #groups = new Map<string, Group>();
  /** Groups that any event on their channels may affect. */
  readonly #general = new Set<Group>();
  /** All other groups, by each token or symbol that they filter by. */
  readonly #named = new Map<string, Set<Group>>();

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
      const groups = this.#named.get(name) ?? new Set();
      this.#named.set(name, groups.add(group));
    }
  }

  delete(group: Group): void {
    this.#groups.delete(group.shape.key);
    this.#general.delete(group);
    for (const name of namesOf(group) ?? []) {
      const groups = this.#named.get(name);
      groups?.delete(group);
      if (groups?.size === 0) this.#named.delete(name);
    }
  }

  /** Finds the groups that a batch may affect, and the events to check for each. */
  affectedBy(mask: ChannelMask, steps: readonly Step[]): ReadonlyMap<Group, AffectedIndices> {
    const affected = new Map<Group, number[] | undefined>();
    for (const group of this.#general) if (group.shape.selection.mask & mask) affected.set(group, undefined);
    if (this.#named.size === 0) return affected;
    for (const [index, step] of steps.entries()) {
      const { tokens, symbols } = touchedBy(step);
      for (const name of [...tokens.map(tokenName), ...symbols.map(symbolName)]) {
        for (const group of this.#named.get(name) ?? []) {
          const indices = affected.get(group);
          if (!indices) affected.set(group, [index]);
          else if (indices.at(-1) !== index) indices.push(index);
        }
      }
    }
    return affected;
  }
}

const tokenName = (token: string) => `token ${token}`;
const symbolName = (symbol: string) => `symbol ${symbol}`;

/** The tokens and symbols that the group filters by; `undefined` if any event may affect it. */
function namesOf({ shape }: Group): readonly string[] | undefined {
  const { parts, channels } = shape.selection;
  if (parts.length === 0 || !channels.every(isListChannel)) return undefined;
  const names = new Set<string>();
  for (const { filter } of parts) {
    // A filter with both selects items that match both, so looking up tokens alone is enough.
    const own = filter?.tokens
      ? [...filter.tokens].map(tokenName)
      : [...(filter?.symbols ?? [])].map(symbolName);
    if (own.length === 0) return undefined;
    for (const name of own) names.add(name);
  }
  return [...names];
}
