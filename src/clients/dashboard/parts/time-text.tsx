import { formatTime, zoneName } from "../text/format.ts";

interface TimeTextProps {
  readonly at: string;
  /** Whether to name the zone. */
  readonly hasZone?: boolean;
}

/** A time of day, with the whole timestamp in UTC as its title and for programs. */
export function TimeText({ at, hasZone = false }: TimeTextProps) {
  return (
    <time dateTime={at} title={at}>
      {hasZone ? `${formatTime(at)} ${zoneName()}` : formatTime(at)}
    </time>
  );
}
