/** Since when the server has past minutes, or `none` if it has none; `undefined` if unknown. */
export type StoredSince = number | "none" | undefined;

/** Reads the response to a request for a past minute. Only 410 (`time-gone`) names a bound. */
export function storedSince(status: number, body: unknown): StoredSince {
  if (status !== 410 || typeof body !== "object" || body === null || !("bound" in body)) return undefined;
  const [, oldest = ""] = /^from (\S+) to \S+$/.exec(String(body.bound)) ?? [];
  const oldestMs = Date.parse(oldest);
  return Number.isNaN(oldestMs) ? "none" : oldestMs;
}
