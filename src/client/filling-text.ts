import type { DataFreshness } from "./freshness.ts";

/** Returns how much of the past has been read: `bsc: 41 of 90 s`; empty when all is. */
export function fillingText({ parts = [] }: Pick<DataFreshness, "parts">): string {
  return parts
    .flatMap(({ name, filling }) => {
      if (!filling) return [];
      const [read, of] = [filling.read_ms, filling.of_ms].map((ms) => Math.floor(ms / 1_000));
      return [`${name}: ${read} of ${of} s`];
    })
    .join(", ");
}
