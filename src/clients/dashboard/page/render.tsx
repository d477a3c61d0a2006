import { renderToString } from "preact-render-to-string";
import { TokenPage, type TokenPageProps } from "../parts/token/token-page.tsx";
import { type MarketKind, renderedMarket, renderedMs } from "../state/store.ts";

interface RenderOptions extends Pick<TokenPageProps, "details" | "flareId" | "nowMs" | "root" | "market"> {
  readonly kind: MarketKind;
}

/** Renders the page of a token or flare on the server, as `live.tsx` does in the browser. */
export function renderTokenPage({ kind, ...props }: RenderOptions): string {
  renderedMarket.value = kind;
  renderedMs.value = props.nowMs;
  return renderToString(<TokenPage {...props} level={1} />);
}

export { renderFirst } from "./first.tsx";
