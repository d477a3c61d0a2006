import { expect } from "vitest";
import { drain, recording, scripted, test } from "../record/record-kit.ts";
import { replay } from "../replay/replay-kit.ts";
import { followTrades } from "./trades-kit.ts";

test("[L4] what the feed emits of an interrupted exchange replays from a recording as it was", async ({
  directory,
}) => {
  await using run = await followTrades("binance");
  run.server.deliver(...run.make(3));
  await run.arrived(3);
  await run.miss(5);
  run.server.deliver(...run.make(2));
  await run.arrived(10);
  const events = [...run.events];
  expect(events.some((event) => event.kind === "trade" && event.tradedAt !== undefined)).toBe(true);
  const { recorder, feed } = recording(scripted(events), directory);
  await drain(feed);
  const { events: replayed, totals } = await replay(recorder.directory);
  expect([replayed, totals]).toEqual([events, {}]);
});
