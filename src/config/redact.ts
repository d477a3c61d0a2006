import { hideSecrets } from "../keys/secret.ts";

/**
 * Removes keys from `text`, and everything between a URL's `//` and its last `@`. With
 * `urlExpected`, also without a scheme, and the query.
 */
export function redact(text: string, urlExpected = false): string {
  const shown = hideSecrets(text).replace(/\/\/.*@/gs, "//***@");
  return urlExpected ? shown.replace(/^(?!\w+:\/\/\*\*\*@).*@/s, "***@").replace(/\?.+/s, "?***") : shown;
}

/** Like {@link redact}, but leaves only the scheme and host of each word: the rest may be a key. */
export function redactEndpoints(text: string): string {
  return redact(text).replace(/[^,\s]+/g, (word) => {
    const [, start = "", host = "", rest] = /^((?:\w+:(?!\d))?[/\\]*)([^/\\?#]*)(.*)$/s.exec(word) ?? [];
    const isHost = start !== "" || /[.:]/.test(host);
    return isHost ? start + host + (rest ? "/***" : "") : "***";
  });
}
