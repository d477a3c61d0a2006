import { safeLink, safeText } from "../../lib/text/safe-text.ts";
import { tokenHash } from "../route.ts";

/** A stranger's text, kept apart from the direction of the text around it. */
export function Stranger({ text }: { readonly text: string }) {
  return <bdi class="stranger">{safeText(text)}</bdi>;
}

/** A warning of the canary's, said with spaces, as people do: `unverified source`. */
export function sayWarning(warning: string): string {
  return safeText(warning).replaceAll("-", " ");
}

/** A token's symbol, which leads to its page where it has an address, and below it its name and what it is warned of, on one line: a warning moves nothing. */
export function TokenName({
  symbol,
  name,
  address,
  warning,
}: {
  readonly symbol: string;
  readonly name?: string | undefined;
  readonly address?: string | undefined;
  readonly warning?: string | undefined;
}) {
  return (
    <span class="token">
      {address === undefined ? (
        <strong>
          <Stranger text={symbol} />
        </strong>
      ) : (
        <a href={tokenHash(address)}>
          <Stranger text={symbol} />
        </a>
      )}
      {name !== undefined && (
        <small class="below">
          <Stranger text={name} />
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

/** A link to somewhere else, if it is one that may be followed. */
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
