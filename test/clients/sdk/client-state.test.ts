import { expect, test } from "vitest";
import type { EventMessage } from "../../../src/base/protocol/messages.ts";
import { acceptEvent, advanceTo, type ClientState } from "../../../src/clients/sdk/client-state.ts";
import { flareStarted } from "../../app/cli/scripted-server.ts";

const HELD: ClientState = { cursor: "abcd-9", view: undefined, started: true };
const eventAt = (seq: number, cursor = `abcd-${seq}`): EventMessage =>
  JSON.parse(JSON.stringify({ ...flareStarted(seq, "A"), cursor }));

/** Returns what `act` throws. */
function thrown(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  throw new Error("nothing was thrown");
}

test("[W14] [F3] a heartbeat never moves the cursor back; one that is ahead moves it forward", () => {
  for (const cursor of ["abcd-1", "abcd-8", "abcd-9", "abcd-9-1f2e3d4c"])
    expect(advanceTo(HELD, cursor)).toBe(HELD);
  let client = HELD;
  // Positions compare as numbers: 10 comes after 9.
  for (const cursor of ["abcd-10", "abcd-2", "abcd-100-1f2e3d4c", "abcd-11"])
    client = advanceTo(client, cursor);
  expect(client).toEqual({ ...HELD, cursor: "abcd-100-1f2e3d4c" });
});

test("[L3] an event or a heartbeat of another epoch ends the connection", () => {
  const reason = "the server is at efgh-10, and this client at abcd-9";
  expect(thrown(() => advanceTo(HELD, "efgh-10"))).toMatchObject({ action: "backoff", reason });
  expect(thrown(() => acceptEvent(HELD, eventAt(10, "efgh-10")))).toMatchObject({
    action: "backoff",
    reason,
  });
  expect(thrown(() => acceptEvent(HELD, eventAt(9, "efgh-9")))).toMatchObject({ action: "backoff" });
});

test("[W13] [W15] an event at or before the cursor is ignored, the next one is delivered, and one after a gap ends the connection", () => {
  for (const seq of [1, 8, 9]) expect(acceptEvent(HELD, eventAt(seq))).toEqual({ client: HELD });
  const next = eventAt(10);
  expect(acceptEvent(HELD, next)).toEqual({ client: { ...HELD, cursor: "abcd-10" }, item: next });
  // The selection may omit the events in between.
  expect(acceptEvent(HELD, { ...eventAt(30), prev: 5 }).item).toMatchObject({ seq: 30 });
  expect(acceptEvent(HELD, { ...eventAt(30), prev: 9 }).item).toMatchObject({ seq: 30 });
  for (const prev of [10, 29])
    expect(thrown(() => acceptEvent(HELD, { ...eventAt(30), prev }))).toMatchObject({
      action: "backoff",
      reason: "an event before abcd-30 is missing",
    });
});
