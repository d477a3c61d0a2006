import { formatPrice } from "../../../../base/lib/text/figures.ts";
import { isUsd } from "../../state/store.ts";

/** A price in few characters, with the full value as its title. Only US dollars have a sign. */
export function Price({ value }: { readonly value: string }) {
  const sign = isUsd.value ? "$" : "";
  return (
    <span class="price" title={value}>
      {sign + formatPrice(value)}
    </span>
  );
}
