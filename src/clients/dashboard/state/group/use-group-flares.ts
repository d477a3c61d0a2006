import { useEffect, useRef, useState } from "preact/hooks";
import type { OtherGroup } from "../../../../base/model/groups.ts";
import { connect, type View } from "../../../sdk/index.ts";
import type { PageAlerts } from "../alerts/page-alerts.ts";
import { measureAway } from "../away.ts";
import { attentiveDocument, oncePerFrame } from "../follow.ts";
import type { GroupSeen } from "../seen.ts";
import type { FlareLists } from "./flare-lists.ts";

/**
 * Follows the flares of a group in a separate stream while `isWanted`, and passes them to the
 * alerts. Returns `undefined` while there is no stream.
 */
export function useGroupFlares(
  server: URL,
  key: string | undefined,
  group: OtherGroup,
  alerts: PageAlerts,
  isWanted: boolean,
): GroupSeen | undefined {
  const following = useRef<ReturnType<typeof followGroup>>(undefined);
  const [, render] = useState({});
  useEffect(() => {
    if (!isWanted) return;
    const started = followGroup(server, key, group, alerts, () => render({}));
    following.current = started;
    return () => {
      following.current = undefined;
      started.stop();
    };
  }, [server.href, key, isWanted]);
  return following.current?.now();
}

/** Follows the group until stopped. Calls `onChange` at most once per frame. */
function followGroup(
  server: URL,
  key: string | undefined,
  group: OtherGroup,
  alerts: PageAlerts,
  onChange: () => void,
) {
  const over = new AbortController();
  const stream = connect(server, {
    channels: [`flares.${group}.*`],
    platform: { document: attentiveDocument(alerts, over.signal) },
    ...(key !== undefined && { key }),
  });
  const away = measureAway();
  let refused: Error | undefined;
  let last: { readonly view: View; readonly lists: FlareLists } | undefined;
  const changed = oncePerFrame(onChange, over.signal);
  /** Returns the same object until the lists change; `undefined` before the first response. */
  const lists = () => {
    const { view } = stream;
    if (view && last?.view !== view)
      last = { view, lists: { ...view, flares: view[`flares.${group}`] ?? {} } };
    return last?.lists;
  };
  stream.on("event", (event) => {
    const now = lists();
    if (now) alerts.take(group, event, now);
    changed();
  });
  stream.on("reset", ({ reason }) => {
    const now = lists();
    if (now) alerts.reset(group, now, reason === "started");
    changed();
  });
  stream.on("connection", ({ state }) => {
    away.note(state);
    changed();
  });
  stream.on("error", (error) => {
    refused = error;
    changed();
  });
  return {
    now: (): GroupSeen => ({
      group,
      lists: refused ?? lists(),
      awayMs: away.nowMs(),
      connection: stream.connection,
      freshness: stream.freshness,
    }),
    stop: () => {
      over.abort();
      stream.close();
    },
  };
}
