import { useState } from "preact/hooks";

export const WATCHED_KEY = "flarewire-watched";
/** As many as a filter of the API accepts. */
const MAX_WATCHED = 64;

export interface Watched {
  /** Addresses in lower case. */
  readonly tokens: ReadonlySet<string>;
  readonly toggle: (address: string) => void;
}

/** The visitor's watch list, in this browser only. */
export function useWatched(): Watched {
  const [tokens, setTokens] = useState(readWatched);
  const toggle = (address: string) =>
    setTokens((before) => {
      const wanted = address.toLowerCase();
      const others = [...before].filter((one) => one !== wanted);
      const after = before.has(wanted) ? others : [...others, wanted].slice(-MAX_WATCHED);
      try {
        localStorage.setItem(WATCHED_KEY, JSON.stringify(after));
      } catch {
        // Without storage the list lasts until the page is reloaded.
      }
      return new Set(after);
    });
  return { tokens, toggle };
}

export function readWatched(): ReadonlySet<string> {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(WATCHED_KEY) ?? "[]");
    const tokens = Array.isArray(stored)
      ? stored.filter((one) => /^0x[0-9a-f]{1,128}$/.test(String(one)))
      : [];
    return new Set(tokens.map(String).slice(0, MAX_WATCHED));
  } catch {
    return new Set();
  }
}
