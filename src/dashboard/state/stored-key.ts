/** Where a key that the visitor wants to be kept lies, until the tab is closed. */
const PLACE = "flarewire-key";

/** What can be sent as a key, as a regular expression: the client refuses all else. */
export const KEY = "[!-~]+";
const WHOLE_KEY = new RegExp(`^${KEY}$`);

/** The key that this tab keeps; none where the browser keeps nothing, as a visitor may wish. */
export function keptKey(): string | undefined {
  try {
    const kept = sessionStorage.getItem(PLACE) ?? "";
    return WHOLE_KEY.test(kept) ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Keeps the key for as long as the tab is there; with `undefined` it forgets it. */
export function keepKey(key: string | undefined): void {
  try {
    if (key === undefined) sessionStorage.removeItem(PLACE);
    else sessionStorage.setItem(PLACE, key);
  } catch {
    // It serves until the page is loaded again.
  }
}
