type StorageName = "localStorage" | "sessionStorage";

/**
 * Returns what `parse` makes of stored text; `undefined` if nothing is stored, `parse` throws, or
 * the browser has no storage for this page.
 */
export function readStored<T>(storage: StorageName, key: string, parse: (text: string) => T): T | undefined {
  try {
    const text = globalThis[storage].getItem(key);
    return text === null ? undefined : parse(text);
  } catch {
    return undefined;
  }
}

/** Stores text; `undefined` deletes it. Without storage, does nothing. */
export function writeStored(storage: StorageName, key: string, text: string | undefined): void {
  try {
    if (text === undefined) globalThis[storage].removeItem(key);
    else globalThis[storage].setItem(key, text);
  } catch {
    // The page has the value until it is reloaded.
  }
}

/**
 * Calls `onChange` when another tab changes one of these keys of the local storage, or clears it.
 * Returns a function that stops this.
 */
export function onStoredElsewhere(keys: readonly string[], onChange: () => void): () => void {
  const onStorage = ({ key }: StorageEvent) => {
    if (key === null || keys.includes(key)) onChange();
  };
  addEventListener("storage", onStorage);
  return () => removeEventListener("storage", onStorage);
}
