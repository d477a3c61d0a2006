import { hideSecrets } from "../keys/secret.ts";

/**
 * `text` as a message may quote it: what stands between a URL's `//` and its last `@`, which may be a password, is left out, and so is what is secret in a key. Where a
 * URL is expected and the scheme was forgotten (`urlExpected`), so is everything before the last `@`, and a query, which may hold a key.
 */
export function redact(text: string, urlExpected = false): string {
  const shown = hideSecrets(text).replace(/\/\/.*@/gs, "//***@");
  return urlExpected ? shown.replace(/^(?!\w+:\/\/\*\*\*@).*@/s, "***@").replace(/\?.+/s, "?***") : shown;
}
