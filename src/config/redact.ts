import { hideSecrets } from "../keys/secret.ts";

/**
 * `text` as a message may quote it: what stands between a URL's `//` and its last `@`, which may be a password, is left out, and so is what is secret in a key. Where a
 * URL is expected and the scheme was forgotten (`urlExpected`), so is everything before the last `@`, and a query, which may hold a key.
 */
export function redact(text: string, urlExpected = false): string {
  const shown = hideSecrets(text).replace(/\/\/.*@/gs, "//***@");
  return urlExpected ? shown.replace(/^(?!\w+:\/\/\*\*\*@).*@/s, "***@").replace(/\?.+/s, "?***") : shown;
}

/**
 * `text` as a message may quote it where addresses of endpoints are expected: of each word only scheme and host, since a key may
 * stand in the rest, also where the address is mistyped. A word that has neither may be the key itself.
 */
export function redactEndpoints(text: string): string {
  return redact(text).replace(/[^,\s]+/g, (word) => {
    const [, start = "", host = "", rest] = /^((?:\w+:(?!\d))?[/\\]*)([^/\\?#]*)(.*)$/s.exec(word) ?? [];
    const isHost = start !== "" || /[.:]/.test(host);
    return isHost ? start + host + (rest ? "/***" : "") : "***";
  });
}
