/** How long a claim holds, because other tabs may see the same alert later. */
const HELD_MS = 300_000;

/**
 * Claims the keys that no other open tab of this browser has claimed, and returns them. Uses locks,
 * because changes to the storage reach other tabs a moment later.
 */
export async function claim(keys: readonly string[]): Promise<ReadonlySet<string>> {
  // Insecure pages have no locks, but no notifications either: only the sound may repeat.
  if (!navigator.locks) return new Set(keys);
  const results = await Promise.all(keys.map(async (key) => ((await isFirst(key)) ? [key] : [])));
  return new Set(results.flat());
}

/** Requests the lock, and holds it for five minutes. Resolves with whether this tab got it. */
function isFirst(key: string): Promise<boolean> {
  return new Promise((resolve) => {
    const hold = async (lock: Lock | null) => {
      resolve(lock !== null);
      if (lock) await new Promise((done) => setTimeout(done, HELD_MS));
    };
    // If the lock fails, report the alert: twice is better than never.
    const asked = navigator.locks.request(`flarewire-alert ${key}`, { ifAvailable: true }, hold);
    asked.catch(() => resolve(true));
  });
}
