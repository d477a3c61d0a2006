/** Since when the server has past minutes, or `none` if it has none; `undefined` if unknown. */
export type StoredSince = number | "none" | undefined;

/** Reads the header fields of the live history. */
export function storedSince(headers: Headers): StoredSince {
  const oldest = headers.get("flarewire-stored-since");
  if (oldest === null) return "none";
  const oldestMs = Date.parse(oldest);
  return Number.isNaN(oldestMs) ? undefined : oldestMs;
}
