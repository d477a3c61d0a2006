import type { View } from "../../protocol/view/view.ts";
import { applyMessage, seqOf } from "../client-state.ts";

/** Returns {@link applyMessage} with the messages of mode `latest`. */
export function createLatest(): typeof applyMessage {
  let missed = 0;
  return (client, message) => {
    if (message.type === "missed") {
      const { seq } = message;
      // The server sends it again if the connection ends before `conflated`.
      if (seq <= missed) return { client };
      missed = seq;
      return { client, item: { ...message, type: "event", cursor: `${client.cursor}`, prev: 0 } };
    }
    if (message.type === "conflated") {
      const { cursor, snapshot } = message;
      seqOf(client, cursor);
      const view = client.view && withLists(client.view, snapshot as View);
      return {
        client: { ...client, cursor, view },
        item: { name: "reset", reason: "conflated", lost: null, cursor, view },
      };
    }
    if (message.type === "subscribed" && message.resumed === "reset") missed = 0;
    return applyMessage(client, message);
  };
}

/** Returns the view with these lists. Flares come with all their lists and explanations. */
function withLists(view: View, lists: View): View {
  const { charts, leaderboards } = lists;
  return {
    ...view,
    ...lists,
    ...(!lists.flares && { explanations: view.explanations }),
    ...(charts && { charts: { ...view.charts, ...charts } }),
    ...(leaderboards && { leaderboards: { ...view.leaderboards, ...leaderboards } }),
  };
}
