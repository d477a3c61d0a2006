import { formatUsd } from "../../../base/lib/text/figures.ts";
import type { View } from "../../sdk/index.ts";
import { Age, Countdown } from "../parts/flare/age.tsx";
import { Gliding } from "../parts/flare/gliding.tsx";
import { Price } from "../parts/flare/price.tsx";
import { usePriceLabel } from "../parts/market.ts";
import { Outward, TokenName } from "../parts/untrusted-text.tsx";
import { tokenHash } from "../route.ts";
import { sourceText } from "../text/source-text.ts";

/** How long a listing stays in the list. */
const LISTED_MS = 900_000;

/** Tokens that were listed within the last 15 minutes, with a countdown. */
export function NewestView({ view }: { readonly view: View }) {
  const listings = view.newest?.bsc ?? [];
  const priceLabel = usePriceLabel();
  return (
    <section aria-labelledby="newest-title">
      <h2 id="newest-title">Newest on BSC</h2>
      {listings.length === 0 ? (
        <p class="empty">No token was listed within the last 15 minutes. New ones appear here.</p>
      ) : (
        <table class="rows newest">
          <thead>
            <tr>
              <th scope="col">Token</th>
              <th scope="col" class="listed">
                Listed
              </th>
              <th scope="col">Leaves in</th>
              <th scope="col">{priceLabel}</th>
              <th scope="col">Liquidity</th>
              <th scope="col">Source code</th>
              <th scope="col">Links</th>
            </tr>
          </thead>
          <Gliding as="tbody" order={listings.map(({ id }) => id).join()}>
            {listings.map(({ id, token, listed_at, liquidity, contract_source, social_data }) => (
              <tr key={id}>
                <th scope="row">
                  <TokenName symbol={token.symbol} name={token.name} href={tokenHash("bsc", token.address)} />
                </th>
                <td data-label="Listed" class="listed">
                  <Age sinceMs={Date.parse(listed_at)} /> ago
                </td>
                <td data-label="Leaves in">
                  <Countdown untilMs={Date.parse(listed_at) + LISTED_MS} ofMs={LISTED_MS} />
                </td>
                <td data-label="Price">
                  <Price value={token.price} />
                </td>
                <td data-label="Liquidity">{formatUsd(liquidity)}</td>
                <td data-label="Source code">{sourceText(contract_source, undefined)}</td>
                <td data-label="Links" class="links">
                  <Outward href={social_data?.website_url} label="site" />
                  <Outward href={social_data?.chat_url} label="chat" />
                  <Outward href={social_data?.microblog_url} label="posts" />
                </td>
              </tr>
            ))}
          </Gliding>
        </table>
      )}
    </section>
  );
}
