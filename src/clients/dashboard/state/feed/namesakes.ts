import { safeText } from "../../../../base/lib/text/safe-text.ts";
import type { Token } from "../../../../base/model/index.ts";

/** Returns the addresses, in lower case, of tokens that look like another token by their symbol. */
export function namesakesOf(
  tokens: readonly (Pick<Token, "symbol" | "address"> | undefined)[],
): ReadonlySet<string> {
  const bySymbol = new Map<string, Set<string>>();
  for (const token of tokens) {
    if (!token) continue;
    const symbol = safeText(token.symbol);
    bySymbol.set(symbol, (bySymbol.get(symbol) ?? new Set()).add(token.address.toLowerCase()));
  }
  return new Set([...bySymbol.values()].flatMap((addresses) => (addresses.size > 1 ? [...addresses] : [])));
}
