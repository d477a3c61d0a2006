import { formatPrice } from "../../../../base/lib/text/figures.ts";

/** A price in few characters, with the full value as its title. */
export function Price({ value }: { readonly value: string }) {
  return (
    <span class="price" title={value}>
      {formatPrice(value)}
    </span>
  );
}
