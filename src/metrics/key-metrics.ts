import type { Plan } from "../protocol/index.ts";
import { first, level, type Metrics, total } from "./metric-table.ts";

export interface KeyParts {
  /** Absent without keys. */
  readonly isKeyFileUsable?: (() => boolean) | undefined;
  /** The valid keys of the file; absent without a file. */
  readonly keys?: (() => readonly { readonly plan: Plan }[] | undefined) | undefined;
  /** What keys use, by key; absent without keys. */
  readonly keyCounts?: KeyUse | undefined;
  /** Open connections by key. */
  readonly keyConnections?: () => readonly (readonly [keyId: string, connections: number])[];
}

interface KeyUse {
  readonly admitted: Readonly<Record<string, number>>;
  readonly limited: Readonly<Record<string, number>>;
  /** The label of a key: its own id for the first hundred. */
  labelOf(keyId: string): string;
}

export function keyMetrics({ isKeyFileUsable, keys, keyCounts, keyConnections }: KeyParts): Metrics {
  const isUsable =
    "1 while the key file and the token keys are current; 0 while the previous ones are in use, or none.";
  const plans = () => {
    const counts: Record<string, number> = { free: 0, pro: 0 };
    for (const { plan } of keys?.() ?? []) counts[plan] = (counts[plan] ?? 0) + 1;
    return counts;
  };
  const connections = (use: KeyUse) => () => {
    const counts: Record<string, number> = {};
    for (const [id, open] of keyConnections?.() ?? []) {
      const label = use.labelOf(id);
      counts[label] = (counts[label] ?? 0) + open;
    }
    return counts;
  };
  return {
    ...(isKeyFileUsable && {
      flarewire_key_file_usable: first(level(isUsable, () => Number(isKeyFileUsable()))),
      flarewire_keys: first(level("Keys in the key file that are in use, by plan.", plans, "plan")),
    }),
    ...(keyCounts && {
      flarewire_key_requests_total: total(
        "Admitted requests and connections by key: the ids of the first hundred keys, then other.",
        () => keyCounts.admitted,
        "key",
      ),
      flarewire_key_limited_total: total(
        "Requests beyond a key's rate, by key likewise.",
        () => keyCounts.limited,
        "key",
      ),
      flarewire_key_connections: level(
        "Open connections and waiting polls, by key likewise.",
        connections(keyCounts),
        "key",
      ),
    }),
  };
}
