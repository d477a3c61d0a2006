import { requestJson } from "../lib/io/request-json.ts";
import { systemClock } from "../lib/time/clock.ts";
import type { Group } from "../model/index.ts";

const LIMITS = { timeoutMs: 5_000, maxBytes: 64 * 2 ** 20 } as const;

/**
 * Returns a server's snapshot or candles. Callers can do without them, so the result is empty if
 * there is no usable response. Never rejects.
 */
export async function fetchResource(
  name: "snapshot" | "candles" | `snapshot?group=${Group}`,
  base: URL,
  key: string | undefined,
  signal: AbortSignal,
): Promise<object> {
  const answer = await get(name, base, key, signal);
  return answer?.kind === "fresh" ? Object(answer.body) : {};
}

/**
 * Returns the plan of the key, or of a client without one; `undefined` for a server without keys,
 * and without a usable response. Never rejects.
 */
export async function fetchPlan(
  base: URL,
  key: string | undefined,
  signal: AbortSignal,
): Promise<string | undefined> {
  // An empty page of events that every key may read, so that the server logs no refusal.
  const answer = await get("events?channels=*&limit=1", base, key, signal, 2_000);
  return answer?.kind === "fresh" ? (answer.headers.get("flarewire-plan") ?? undefined) : undefined;
}

function get(
  path: string,
  base: URL,
  key: string | undefined,
  signal: AbortSignal,
  timeoutMs: number = LIMITS.timeoutMs,
) {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const url = `${base.href.replace(/\/$/, "")}/api/v1/${path}`;
  const settings = { fetch, headers, clock: systemClock, ...LIMITS, timeoutMs };
  return requestJson(url, undefined, settings, signal).catch(() => undefined);
}
