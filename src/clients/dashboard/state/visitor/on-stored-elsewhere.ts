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
