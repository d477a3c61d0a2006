import { hideSecrets } from "../../gateway/keys/index.ts";

/**
 * Masks keys in `text`, and everything between a URL's `//` and its last `@`. With `urlExpected`,
 * also masks the query, and what precedes an `@` in a URL without a scheme.
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
