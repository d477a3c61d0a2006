import { type Step, touchedTokens } from "../protocol/index.ts";
import type { ChannelMask } from "./channel-mask.ts";
import type { Group } from "./group.ts";

/**
 * All groups, found by what they follow: those that ask for certain tokens only are not looked at while others move, however many
 * there are.
 */
export class GroupIndex {
  readonly #groups = new Map<string, Group>();
  /** Those that any event of their channels may concern. */
  readonly #general = new Set<Group>();
  /** The others, by each token that they ask for. */
  readonly #byToken = new Map<string, Set<Group>>();

  /** All of them, as they are now. */
  all(): readonly Group[] {
    return [...this.#groups.values()];
  }

  get(key: string): Group | undefined {
    return this.#groups.get(key);
  }

  add(group: Group): void {
    this.#groups.set(group.shape.key, group);
    const tokens = tokensOf(group);
    if (!tokens) this.#general.add(group);
    for (const token of tokens ?? []) {
      const those = this.#byToken.get(token) ?? new Set();
      this.#byToken.set(token, those.add(group));
    }
  }

  delete(group: Group): void {
    this.#groups.delete(group.shape.key);
    this.#general.delete(group);
    for (const token of tokensOf(group) ?? []) {
      const those = this.#byToken.get(token);
      those?.delete(group);
      if (those?.size === 0) this.#byToken.delete(token);
    }
  }

  /** The groups that may have to be told of a batch on these channels. */
  concerned(mask: ChannelMask, steps: readonly Step[]): readonly Group[] {
    const touched = this.#byToken.size === 0 ? new Set<string>() : touchedBy(steps);
    const some = touched ? new Set(this.#general) : new Set(this.#groups.values());
    for (const token of touched ?? []) for (const group of this.#byToken.get(token) ?? []) some.add(group);
    return [...some].filter(({ shape }) => shape.selection.mask & mask);
  }
}

/** The tokens without which the group is sent nothing; `undefined` when it is sent something else too. */
function tokensOf({ shape }: Group): readonly string[] | undefined {
  const { parts, channels } = shape.selection;
  if (parts.length === 0 || channels.includes("status")) return undefined;
  const tokens = parts.flatMap(({ filter }) => [...(filter?.tokens ?? [])]);
  return parts.every(({ filter }) => filter?.tokens) ? [...new Set(tokens)] : undefined;
}

/** The tokens of all items that these steps do something to; `undefined` when that may be any. */
function touchedBy(steps: readonly Step[]): ReadonlySet<string> | undefined {
  const touched = new Set<string>();
  for (const step of steps) {
    const tokens = touchedTokens(step);
    if (!tokens) return undefined;
    for (const token of tokens) touched.add(token);
  }
  return touched;
}
