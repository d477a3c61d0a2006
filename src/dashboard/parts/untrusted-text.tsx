import { safeLink, safeText } from "../../lib/text/safe-text.ts";
import { tokenHash } from "../route.ts";

/** Untrusted text, isolated from the direction of the surrounding text. */
export function UntrustedText({ text }: { readonly text: string }) {
  return <bdi class="untrusted">{safeText(text)}</bdi>;
}

/** Formats a warning of the canary with spaces: `unverified source`. */
export function sayWarning(warning: string): string {
  return safeText(warning).replaceAll("-", " ");
}

/** A token's symbol, linked if it has an address, with name and warnings on one line below. */
export function TokenName({
  symbol,
  name,
  address,
  warning,
  tag,
}: {
  readonly symbol: string;
  readonly name?: string | undefined;
  readonly address?: string | undefined;
  readonly warning?: string | undefined;
  /** Of the token's chain, after the symbol. */
  readonly tag?: string;
}) {
  return (
    <span class="token">
      {address === undefined ? (
        <strong>
          <UntrustedText text={symbol} />
        </strong>
      ) : (
        <span class="symbol">
          <a href={tokenHash(address)}>
            <UntrustedText text={symbol} />
          </a>
          {tag && <small class="tag">{tag}</small>}
        </span>
      )}
      {name !== undefined && (
        <small class="below">
          <UntrustedText text={name} />
          {warning && (
            <span class="warned" title={warning}>
              ⚠ {warning}
            </span>
          )}
        </small>
      )}
    </span>
  );
}

/** An external link, if it is safe to follow. */
export function Outward({
  href,
  label,
}: {
  readonly href: string | null | undefined;
  readonly label: string;
}) {
  const safe = safeLink(href);
  if (safe === undefined) return null;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow ugc">
      {label}
    </a>
  );
}
