import { expect } from "vitest";
import { test } from "../../support/time/still-running.ts";
import { candlesOf, MINUTE, market } from "./scripted-market.ts";
import { HANGS, settle, until } from "./scripted-venue.ts";

test("after each outage of all exchanges, time stands still until their missed minutes have arrived", async () => {
  await using run = await market({ binance: { A: 1 } });
  const { clock, connected, reconnected, pass, server, events, clockMs } = run;
  await connected();
  await pass(5_000);
  for (const round of [1, 2]) {
    const release: (() => void)[] = [];
    const usual = server().answer;
    server().answer = (path, response) => {
      if (!path.startsWith("/minutes")) return server().usual(path);
      const end = () => response.end(JSON.stringify(server().usual(path)));
      release.push(end);
      return HANGS;
    };
    server().cut();
    server().isRefusing = true;
    clock.advance(11_000);
    await settle();
    const stoppedAt = clockMs();
    clock.advance(3 * MINUTE);
    await settle();
    await reconnected();
    await pass(4_000);
    expect([clockMs(), release.length], `round ${round}`).toEqual([stoppedAt, expect.any(Number)]);
    expect(release.length).toBeGreaterThan(0);
    for (const end of release.splice(0)) end();
    server().answer = usual;
    await until("time goes on", () => {
      clock.advance(250);
      return clockMs() > stoppedAt + 3 * MINUTE;
    });
  }
  const minutes = candlesOf(events).map((one) => Number(one.split(" ")[1]));
  expect(minutes).toEqual(minutes.map((_, index) => (minutes[0] ?? 0) + index));
});
