import { useContext, useState } from "preact/hooks";
import { safeText } from "../../../lib/text/safe-text.ts";
import type { Flare } from "../../../model/index.ts";
import { IsAnonymous, Market } from "../market.ts";
import { Outward } from "../untrusted-text.tsx";

interface TokenActionsProps {
  readonly token: Flare["token"];
  /** Path of a page to share: of the token, or of its flare. */
  readonly page: string;
}

/** Copies the token's address, and leads to sites that know it: only for tokens that exist. */
export function TokenActions({ token, page }: TokenActionsProps) {
  const [isCopied, setCopied] = useState(false);
  const { origin } = useContext(Market);
  const isAnonymous = useContext(IsAnonymous);
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
      {isAnonymous && (
        <a href={page} aria-label={`Page of ${safeText(token.symbol)}, to share`}>
          share
        </a>
      )}
      {origin === "live" && (
        <>
          <Outward href={`https://bscscan.com/token/${address}`} label="BscScan" />
          <Outward href={`https://pancakeswap.finance/swap?outputCurrency=${address}`} label="DEX" />
        </>
      )}
    </span>
  );
}
