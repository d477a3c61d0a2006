const ENTITY_TAG = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/** True if `If-None-Match` names `etag`: `*`, or weakly equal (RFC 9110, 13.1.2). */
export function matchesEtag(field: string, etag: string): boolean {
  if (field === etag || field.trim() === "*") return true;
  for (const [, tag] of field.matchAll(ENTITY_TAG)) if (tag === etag) return true;
  return false;
}
