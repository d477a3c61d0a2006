import { safeText } from "../../../../base/lib/text/safe-text.ts";
import { tokenOf } from "../../../../base/model/key-of.ts";

interface WatchStarProps {
  readonly token: Parameters<typeof tokenOf>[0]["token"];
  readonly isWatched: boolean;
  readonly onWatch: (token: string) => void;
}

/** Puts a token on the watch list, or takes it off. */
export function WatchStar({ token, isWatched, onWatch }: WatchStarProps) {
  return (
    <button
      type="button"
      class="star"
      aria-pressed={isWatched}
      aria-label={`Watch ${safeText(token.symbol)}`}
      onClick={() => onWatch(tokenOf({ token }))}
    >
      {isWatched ? "★" : "☆"}
    </button>
  );
}
