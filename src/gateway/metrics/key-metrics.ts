import type { Plan } from "../../base/protocol/index.ts";
import { level, type Metrics, total } from "./metric-table.ts";

/** A gateway's keys: see `Keys`. */
export interface MeasuredKeys {
  readonly isFileUsable?: () => boolean;
  readonly list: () => readonly { readonly plan: Plan }[] | undefined;
  readonly counts?: KeyUse | undefined;
  readonly registry: {
    readonly limiter: { readonly ofKeys: readonly (readonly [keyId: string, connections: number])[] };
  };
}

interface KeyUse {
  readonly admitted: Readonly<Record<string, number>>;
  readonly limited: Readonly<Record<string, number>>;
  /** Returns a key's label: its id for the first hundred keys, then `other`. */
  labelOf(keyId: string): string;
}

export function keyMetrics({ isFileUsable, list, counts: uses, registry }: MeasuredKeys): Metrics {
  const isUsable =
    "1 while the key file and the token keys are current; 0 while the previous ones are in use, or there are none.";
  const plans = () => {
    const counts: Record<string, number> = { free: 0, pro: 0 };
    for (const { plan } of list() ?? []) counts[plan] = (counts[plan] ?? 0) + 1;
    return counts;
  };
  const connections = (use: KeyUse) => () => {
    const counts: Record<string, number> = {};
    for (const [id, open] of registry.limiter.ofKeys) {
      const label = use.labelOf(id);
      counts[label] = (counts[label] ?? 0) + open;
    }
    return counts;
  };
  return {
    ...(isFileUsable && {
      flarewire_key_file_usable: level(isUsable, () => Number(isFileUsable())),
      flarewire_keys: level(
        "Keys in the last valid version of the key file, expired ones too, by plan.",
        plans,
        "plan",
      ),
    }),
    ...(uses && {
      flarewire_key_requests_total: total(
        "Admitted requests and connections by key: the ids of the first hundred keys, then other.",
        () => uses.admitted,
        "key",
      ),
      flarewire_key_limited_total: total(
        "Requests beyond a key's rate, by key: the ids of the first hundred keys, then other.",
        () => uses.limited,
        "key",
      ),
      flarewire_key_connections: level(
        "Open connections and waiting polls, by key: the ids of the first hundred keys, then other.",
        connections(uses),
        "key",
      ),
    }),
  };
}
