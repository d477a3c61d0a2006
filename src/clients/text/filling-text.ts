import type { Freshness } from "../../base/protocol/index.ts";

/** Returns the progress of reading past data, such as `bsc: 41 of 90 s`; empty when complete. */
export function fillingText({ parts = [] }: { readonly parts?: Freshness["parts"] | undefined }): string {
  return parts
    .flatMap(({ name, filling }) => {
      if (!filling) return [];
      const [read, of] = [filling.read_ms, filling.of_ms].map((ms) => Math.floor(ms / 1_000));
      return [`${name}: ${read} of ${of} s`];
    })
    .join(", ");
}
