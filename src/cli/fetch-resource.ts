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
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  const url = `${base.href.replace(/\/$/, "")}/api/v1/${name}`;
  const settings = { fetch, headers, clock: systemClock, ...LIMITS };
  const answer = await requestJson(url, undefined, settings, signal).catch(() => undefined);
  return answer?.kind === "fresh" ? Object(answer.body) : {};
}
