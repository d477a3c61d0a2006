import { positionOf, type Start } from "../client-state.ts";
import { readSelection, type Selection, type SelectionPlan, type StreamPlan } from "../options.ts";
import { oneOf } from "../stream-error.ts";
import { ended } from "../transport/end.ts";
import { cursorOf, type Page } from "../transport/poll-transport.ts";

/**
 * Sets `plan.lead`, and returns a function that changes what the stream selects. The next
 * connection begins with a snapshot of the new selection, reads the events of the earlier one up to
 * that snapshot's cursor, and continues there. So each event is emitted once, by one of the two
 * selections.
 */
export function createUpdate(plan: StreamPlan, first: Selection): (selection: Selection) => void {
  let current = first;
  /** The selection that the stream's lists still have; `undefined` if that is the current one. */
  let earlier: SelectionPlan | undefined;
  plan.lead = async ({ request, deliver }, start, urlOf) => {
    if (!earlier || !start) {
      earlier = undefined;
      return start;
    }
    const { query } = earlier;
    const answer = await request(urlOf("events", { snapshot: "true" }), [200]);
    const cursor = cursorOf(answer);
    const { snapshot }: Page = Object(await answer.json());
    const end = positionOf(cursor);
    const behind = ended("backoff", "the server is behind another");
    let lost: Start["lost"];
    for (let position = start; !lost; ) {
      const { epoch, seq } = positionOf(position);
      if (epoch === end.epoch && seq >= end.seq) {
        // Never go back: the server that sent the snapshot may be behind this client.
        if (position === start && seq > end.seq) throw behind;
        break;
      }
      const page = await request(urlOf("events", { after: position, limit: "1000" }, query), [200, 410]);
      const body: Page = Object(await page.json());
      lost = body.lost;
      for (const event of body.events ?? []) if (event.seq <= end.seq) deliver(event);
      position = cursorOf(page);
      if (!lost && !body.more && positionOf(position).seq < end.seq) throw behind;
    }
    earlier = undefined;
    lost ??= { reason: "changed", events: 0 };
    deliver({ type: "subscribed", cursor, resumed: "reset", lost, snapshot });
    return cursor;
  };
  return (selection) => {
    for (const name of Object.keys(selection)) oneOf("option", name, ["channels", "filter"]);
    const merged = { ...current, ...selection };
    const next = readSelection(merged);
    current = merged;
    earlier ??= plan.selection;
    plan.selection = next;
  };
}
