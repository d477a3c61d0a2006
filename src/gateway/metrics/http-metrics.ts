import { type Metrics, total } from "./metric-table.ts";

export interface MeasuredHttp {
  /** Refused connections and requests, by reason. Default: none. */
  readonly refusals?: (() => Readonly<Partial<Record<string, number>>>) | undefined;
  /** Responses by route and status. Default: none. */
  readonly responses?: (() => readonly ResponseCount[]) | undefined;
}

type ResponseCount = readonly [{ readonly route: string; readonly status: string }, number];

export function httpMetrics({ refusals, responses }: MeasuredHttp): Metrics {
  return {
    flarewire_refusals_total: total(
      "Refused connections and requests, by reason: the limit that was reached, or the problem code.",
      () => ({ connections: 0, ...refusals?.() }),
      "reason",
    ),
    flarewire_http_responses_total: total(
      "Responses by route and status. Accepted streams count as connections instead.",
      () => responses?.() ?? [],
      ...["route", "status"],
    ),
  };
}
