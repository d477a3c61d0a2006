/**
 * Since when the server has past minutes, in milliseconds since 1970 UTC, or `none` if it has none;
 * `undefined` if unknown.
 */
export type StoredSince = number | "none" | undefined;

/** Reads the header fields of a successful response from `api/v1/history` without `at`. */
export function storedSince(headers: Headers): StoredSince {
  const oldest = headers.get("flarewire-stored-since");
  if (oldest === null) return "none";
  const oldestMs = Date.parse(oldest);
  return Number.isNaN(oldestMs) ? undefined : oldestMs;
}
