import { formatTime } from "../text/format.ts";

/** A time of day in UTC, with the whole timestamp as its title and for programs. */
export function TimeText({ at }: { readonly at: string }) {
  return (
    <time dateTime={at} title={at}>
      {formatTime(at)}
    </time>
  );
}
