const ENTITY_TAG = /(?:W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g;

/**
 * True when an `If-None-Match` field names `etag`, which is a strong entity tag with its quotes: the client has these
 * bytes. `*` matches whatever is there; weak tags are compared by what is in the quotes (RFC 9110, 13.1.2); what cannot be read matches nothing.
 */
export function namesEtag(field: string, etag: string): boolean {
  if (field === etag || field.trim() === "*") return true;
  for (const match of field.matchAll(ENTITY_TAG)) {
    if (match[1] === etag) return true;
  }
  return false;
}
