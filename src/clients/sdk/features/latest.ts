import type { View } from "../../../base/protocol/view/view.ts";
import { applyMessage, seqOf } from "../client-state.ts";

/** Returns an {@link applyMessage} that also processes the messages of mode `latest`. */
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

/**
 * Returns the view with these lists. If they include flares, they include every followed list of
 * flares, and the explanations and outcomes replace the earlier ones.
 */
function withLists(view: View, lists: View): View {
  const { explanations: _explanations, outcomes: _outcomes, ...others } = view;
  const next: Record<string, object> = Object.keys(lists).some((name) => name.startsWith("flares"))
    ? others
    : { ...view };
  for (const [name, part] of Object.entries(lists)) next[name] = { ...next[name], ...part };
  // Each part is a record, merged by its name. The types of View do not express that.
  return next as unknown as View;
}
