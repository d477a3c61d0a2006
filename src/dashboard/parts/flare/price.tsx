import { formatPrice } from "../../text/format.ts";

/** A price in few characters; the pointer gets the whole of it. */
export function Price({ value }: { readonly value: string }) {
  return (
    <span class="price" title={value}>
      {formatPrice(value)}
    </span>
  );
}
