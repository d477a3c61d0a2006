/** How long other tabs may still report what this one has. */
const HELD_MS = 300_000;

/**
 * Returns those keys that no other open tab of this browser has claimed, and claims them. Locks are
 * exclusive at once, unlike storage, whose changes reach other processes a moment later.
 */
export async function claim(keys: readonly string[]): Promise<ReadonlySet<string>> {
  // Only secure pages have locks, and only they have notifications.
  if (!navigator.locks) return new Set(keys);
  const results = await Promise.all(keys.map(async (key) => ((await isFirst(key)) ? [key] : [])));
  return new Set(results.flat());
}

/** Resolves with true in the one tab that gets the lock, and holds it for a while. */
function isFirst(key: string): Promise<boolean> {
  return new Promise((resolve) => {
    const hold = async (lock: Lock | null) => {
      resolve(lock !== null);
      if (lock) await new Promise((done) => setTimeout(done, HELD_MS));
    };
    // Without an answer of the browser, rather twice than never.
    const asked = navigator.locks.request(`flarewire-alert ${key}`, { ifAvailable: true }, hold);
    asked.catch(() => resolve(true));
  });
}
