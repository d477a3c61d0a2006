import { safeText } from "../../../lib/text/safe-text.ts";
import type { Token } from "../../../model/index.ts";

interface WatchStarProps {
  readonly token: Pick<Token, "symbol" | "address">;
  readonly isWatched: boolean;
  readonly onWatch: (address: string) => void;
}

/** Puts a token on the watch list, or takes it off. */
export function WatchStar({ token, isWatched, onWatch }: WatchStarProps) {
  return (
    <button
      type="button"
      class="star"
      aria-pressed={isWatched}
      aria-label={`Watch ${safeText(token.symbol)}`}
      onClick={() => onWatch(token.address)}
    >
      {isWatched ? "★" : "☆"}
    </button>
  );
}
