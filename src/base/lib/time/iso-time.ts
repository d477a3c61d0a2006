/** Number of cached times; a power of two. */
const SLOTS = 16;
const remembered = new Float64Array(SLOTS).fill(Number.NaN);
const texts = new Array<string>(SLOTS).fill("");

/** A cached `new Date(atMs).toISOString()`, which took a fifth of a request's time. */
export function isoTime(atMs: number): string {
  const slot = Math.floor(atMs) & (SLOTS - 1);
  const known = texts[slot];
  if (known !== undefined && remembered[slot] === atMs) return known;
  const text = new Date(atMs).toISOString();
  remembered[slot] = atMs;
  texts[slot] = text;
  return text;
}
