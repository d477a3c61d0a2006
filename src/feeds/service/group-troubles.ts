interface Troubled {
  readonly name: string;
  /** The second half of a sentence; `undefined` if the service works. */
  readonly trouble: string | undefined;
}

/** Created at its first use: creating it at each start would take 15 ms of CPU time. */
let list: Intl.ListFormat | undefined;

/**
 * Returns a sentence for each trouble, such as "each of binance and gate returned 503", joined by
 * semicolons; `undefined` if all services work.
 */
export function groupTroubles(services: readonly Troubled[]): string | undefined {
  const down = services.filter(({ trouble }) => trouble !== undefined);
  const sentences = [...Map.groupBy(down, ({ trouble }) => trouble)].map(([trouble, all]) => {
    list ??= new Intl.ListFormat("en-US");
    const names = list.format(all.map(({ name }) => name));
    return `${all.length === 1 ? names : `each of ${names}`} ${trouble}`;
  });
  return sentences.length === 0 ? undefined : sentences.join("; ");
}
