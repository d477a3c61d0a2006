const REDDIT = "Reddit closed its API in May 2026";

/** Settings of earlier versions, with the reason for their removal. */
export const REMOVED_SETTINGS: ReadonlyMap<string, string> = new Map([["redditUrl", REDDIT]]);

/** Reports a removed setting that is still given. */
export function removedSetting(name: string, from: string): string {
  return `${name} (${from}) was removed: ${REMOVED_SETTINGS.get(name)}; delete it`;
}

/** Reports a removed service in a value of `enrich`. */
export function removedEnricher(value: unknown): string | undefined {
  const names = Array.isArray(value) ? value : String(value).split(",");
  const isRemoved = names.some((name) => String(name).trim() === "reddit");
  return isRemoved ? `names reddit, which was removed: ${REDDIT}; delete it` : undefined;
}
