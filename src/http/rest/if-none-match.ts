const ENTITY_TAG = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/**
 * True if an `If-None-Match` field names `etag`, a strong entity tag with its quotes. `*` matches
 * everything. Weak tags are compared by their quoted part (RFC 9110, 13.1.2). Invalid text matches
 * nothing.
 */
export function matchesEtag(field: string, etag: string): boolean {
  if (field === etag || field.trim() === "*") return true;
  for (const match of field.matchAll(ENTITY_TAG)) {
    if (match[1] === etag) return true;
  }
  return false;
}
