import { useState } from "preact/hooks";
import { safeText } from "../../../../base/lib/text/safe-text.ts";
import { GROUP_FACTS, type GroupName } from "../../../../base/model/groups.ts";
import type { AnyFlare } from "../../../../base/model/index.ts";
import { isAnonymous, market } from "../../state/store.ts";
import { Outward } from "../untrusted-text.tsx";

interface TokenActionsProps {
  readonly group: GroupName;
  readonly token: AnyFlare["token"];
  /** Pair of a token without an address, to copy instead. */
  readonly pair?: string | null | undefined;
  /** Path of a page to share: of the token, or of its flare. */
  readonly page: string;
}

/**
 * Copies the token's address or pair. Links to `page` if the visitor has no key, and to sites about
 * the token if the market is live.
 */
export function TokenActions({ group, token, pair, page }: TokenActionsProps) {
  const [isCopied, setCopied] = useState(false);
  const text = token.address ?? pair ?? token.symbol;
  const copy = () => {
    navigator.clipboard?.writeText(text).then(
      () => setCopied(true),
      () => {},
    );
  };
  const address = encodeURIComponent(text);
  const { sites = [] } = GROUP_FACTS[group];
  return (
    <span class="actions">
      <button
        type="button"
        class="plain"
        title={safeText(text)}
        aria-label={`Copy the ${group === "exchange" ? "pair" : "address"} of ${safeText(token.symbol)}`}
        onClick={copy}
        onBlur={() => setCopied(false)}
        onPointerLeave={() => setCopied(false)}
      >
        {isCopied ? "copied" : "copy"}
      </button>
      {isAnonymous.value && (
        <a href={page} aria-label={`Page of ${safeText(token.symbol)}, to share`}>
          share
        </a>
      )}
      {market.value.origin === "live" &&
        sites.map(([label, prefix]) => <Outward key={label} href={`${prefix}${address}`} label={label} />)}
    </span>
  );
}
