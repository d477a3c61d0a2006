const WORKERS = /^(--(no-)?workers|FLAREWIRE_WORKERS|workers)$/;

/**
 * Returns what to do instead of a setting that no longer exists; `undefined` for any other name.
 * `given`: the flag, the variable or the key.
 */
export function goneProblem(given: string): string | undefined {
  if (!WORKERS.test(given)) return undefined;
  return `${given} is gone: run edges (--source follow:URL) behind nginx or Caddy instead; see src/scale/SCALING.md`;
}
