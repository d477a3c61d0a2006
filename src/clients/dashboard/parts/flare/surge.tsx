import { formatPrice } from "../../../../base/lib/text/figures.ts";
import type { Explanation } from "../../../../base/model/index.ts";
import { nowReason } from "../../../../base/model/text/reason-text.ts";
import { TimeText } from "../time-text.tsx";
import { Lasting } from "./age.tsx";

/** The latest surge of a running flare, as a sentence; nothing before the first. */
function SurgeSentence({ why }: { readonly why: Explanation | undefined }) {
  if (!why?.surge) return null;
  const { number, at, price } = why.surge;
  return (
    <>
      {number === 1 ? "Surged again at " : `Surged again ${number} times, last at `}
      <TimeText at={at} />, price {formatPrice(price)}.{" "}
    </>
  );
}

/** The reason of a running flare as of now, after its latest surge. */
export function RunningReason({ why }: { readonly why: Explanation | undefined }) {
  return (
    <>
      <SurgeSentence why={why} />
      {why && nowReason(why.text)}
    </>
  );
}

/** The latest surge of a running flare; nothing before the first. */
export function Surged({
  why,
  untilMs,
}: {
  readonly why: Explanation | undefined;
  readonly untilMs: number | undefined;
}) {
  if (!why?.surge) return null;
  return (
    <small class="surged" title={`Surged ${why.surge.number === 1 ? "once" : `${why.surge.number} times`}`}>
      surged <Lasting sinceMs={Date.parse(why.surge.at)} untilMs={untilMs} />
    </small>
  );
}
