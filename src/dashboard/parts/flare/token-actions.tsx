import { useContext, useState } from "preact/hooks";
import { safeText } from "../../../lib/text/safe-text.ts";
import type { Token } from "../../../model/index.ts";
import { Market } from "../market.ts";
import { Outward } from "../untrusted-text.tsx";

/** Copies the token's address, and leads to sites that know it: only for tokens that exist. */
export function TokenActions({ token }: { readonly token: Token }) {
  const [isCopied, setCopied] = useState(false);
  const { origin } = useContext(Market);
  const copy = () => {
    navigator.clipboard?.writeText(token.address).then(
      () => setCopied(true),
      () => {},
    );
  };
  const address = encodeURIComponent(token.address);
  return (
    <span class="actions">
      <button
        type="button"
        class="plain"
        title={token.address}
        aria-label={`Copy the address of ${safeText(token.symbol)}`}
        onClick={copy}
        onBlur={() => setCopied(false)}
        onPointerLeave={() => setCopied(false)}
      >
        {isCopied ? "copied" : "copy"}
      </button>
      {origin === "live" && (
        <>
          <Outward href={`https://bscscan.com/token/${address}`} label="BscScan" />
          <Outward href={`https://pancakeswap.finance/swap?outputCurrency=${address}`} label="DEX" />
        </>
      )}
    </span>
  );
}
