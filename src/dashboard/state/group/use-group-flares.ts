import { useEffect, useRef, useState } from "preact/hooks";
import { connect, type View } from "../../../client/index.ts";
import type { GroupName } from "../../../lib/text/group-labels.ts";
import { measureAway } from "../away.ts";
import type { GroupSeen } from "../seen.ts";
import type { FlareLists } from "./flare-lists.ts";

/**
 * Follows the flares of a group in a stream of their own, because the page's stream has those of
 * `bsc` only, which need none.
 */
export function useGroupFlares(
  server: URL,
  key: string | undefined,
  group: GroupName,
): GroupSeen | undefined {
  const following = useRef<ReturnType<typeof followGroup>>(undefined);
  const [, render] = useState({});
  useEffect(() => {
    if (group === "bsc") return;
    const started = followGroup(server, key, group, () => render({}));
    following.current = started;
    return () => {
      following.current = undefined;
      started.stop();
    };
  }, [server.href, key, group]);
  return following.current?.group === group ? following.current.now() : undefined;
}

type OtherGroup = Exclude<GroupName, "bsc">;

/** Follows the group until stopped. Calls `onChange` at most once per frame. */
function followGroup(server: URL, key: string | undefined, group: OtherGroup, onChange: () => void) {
  const stream = connect(server, {
    channels: [`flares.${group}.*`],
    ...(key !== undefined && { key }),
  });
  const away = measureAway();
  let refused: Error | undefined;
  let last: { readonly view: View; readonly lists: FlareLists } | undefined;
  let frame = 0;
  const changed = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      onChange();
    });
  };
  stream.on("event", changed);
  stream.on("reset", changed);
  stream.on("connection", ({ state }) => {
    away.note(state);
    changed();
  });
  stream.on("error", (error) => {
    refused = error;
    changed();
  });
  /** Returns the same lists until they change. */
  const lists = () => {
    const { view } = stream;
    if (view && last?.view !== view)
      last = { view, lists: { ...view, flares: view[`flares.${group}`] ?? {} } };
    return last?.lists;
  };
  return {
    group,
    now: (): GroupSeen => ({
      lists: refused ?? lists(),
      awayMs: away.nowMs(),
      connection: stream.connection,
      freshness: stream.freshness,
    }),
    stop: () => {
      cancelAnimationFrame(frame);
      stream.close();
    },
  };
}
