import { renderToString } from "preact-render-to-string";
import { Market, type MarketKind } from "../parts/market.ts";
import { TokenPage, type TokenPageProps } from "../parts/token/token-page.tsx";

interface RenderOptions extends Pick<TokenPageProps, "details" | "flareId" | "nowMs" | "root" | "market"> {
  readonly kind: MarketKind;
}

/** Renders the page of a token or flare on the server, as `live.tsx` does in the browser. */
export function renderTokenPage({ kind, ...props }: RenderOptions): string {
  return renderToString(
    <Market.Provider value={kind}>
      <TokenPage {...props} level={1} />
    </Market.Provider>,
  );
}
