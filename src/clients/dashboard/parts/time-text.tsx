import { formatTime } from "../text/format.ts";

/** A time of day in UTC, with the whole timestamp as its title and for programs. */
export function TimeText({ at, zone = "" }: { readonly at: string; readonly zone?: "" | " UTC" }) {
  return (
    <time dateTime={at} title={at}>
      {formatTime(at) + zone}
    </time>
  );
}
