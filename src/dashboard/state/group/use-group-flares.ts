import { useEffect, useState } from "preact/hooks";
import { connect } from "../../../client/index.ts";
import type { GroupName } from "../../../lib/text/group-labels.ts";
import type { FlareLists } from "./flare-lists.ts";

/**
 * Follows the flares of a group in a stream of their own, because the page's stream has those of
 * `bsc` only, which need none. `undefined` before the first response, an Error if it was refused.
 */
export function useGroupFlares(
  server: URL,
  key: string | undefined,
  group: GroupName,
): FlareLists | Error | undefined {
  const [held, setHeld] = useState<{ readonly of: GroupName; readonly lists: FlareLists | Error }>();
  useEffect(() => {
    if (group === "bsc") return;
    const channels = [`flares.${group}.*`];
    const stream = connect(server, { channels, ...(key !== undefined && { key }) });
    let frame = 0;
    const show = () => {
      frame ||= requestAnimationFrame(() => {
        frame = 0;
        const { view } = stream;
        if (view) setHeld({ of: group, lists: { ...view, flares: view[`flares.${group}`] ?? {} } });
      });
    };
    stream.on("event", show);
    stream.on("reset", show);
    stream.on("error", (lists) => setHeld({ of: group, lists }));
    return () => {
      cancelAnimationFrame(frame);
      stream.close();
    };
  }, [server.href, key, group]);
  return held?.of === group ? held.lists : undefined;
}
