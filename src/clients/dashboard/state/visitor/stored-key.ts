/** Key of the session storage, which lasts until the tab is closed. */
const STORAGE_KEY = "flarewire-key";

/** The form of a key, as a regular expression. The client rejects anything else. */
export const KEY = "[!-~]+";
const WHOLE_KEY = new RegExp(`^${KEY}$`);

export function storedKey(): string | undefined {
  try {
    const stored = sessionStorage.getItem(STORAGE_KEY) ?? "";
    return WHOLE_KEY.test(stored) ? stored : undefined;
  } catch {
    return undefined;
  }
}

/** Stores the key in this tab; `undefined` deletes it. */
export function storeKey(key: string | undefined): void {
  try {
    if (key === undefined) sessionStorage.removeItem(STORAGE_KEY);
    else sessionStorage.setItem(STORAGE_KEY, key);
  } catch {
    // Without storage the key lasts until the page is reloaded.
  }
}
