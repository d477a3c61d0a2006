import { describe, expect } from "vitest";
import { StreamConnection } from "../../../src/feeds/exchange/stream-connection.ts";
import type { StreamNews } from "../../../src/feeds/exchange/venue.ts";
import { VenueSubscription } from "../../../src/feeds/exchange/venue-subscription.ts";
import { ServiceClient } from "../../../src/feeds/service/service-client.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { stillRunning, test } from "../../support/time/still-running.ts";
import { candleNews, ScriptedVenue, type ScriptedVenueOptions, settle, until } from "./scripted-venue.ts";

const DAY = 86_400_000;
const NEVER = 20 * DAY;

/** Subscribes to a scripted exchange with a manual clock. Waits until it is connected. */
async function subscribeTo(
  pairs: readonly string[],
  options: ScriptedVenueOptions & { readonly renewMs?: number; readonly isAwaited?: boolean } = {},
) {
  const clock = new ManualClock();
  const server = await new ScriptedVenue(options).listen();
  const news: StreamNews[] = [];
  const health: (string | undefined)[] = [];
  const resumed: (readonly string[])[] = [];
  const count = { replaced: 0 };
  const { venue } = server;
  const subscription = new VenueSubscription(
    {
      venue,
      client: new ServiceClient({ clock, pauseMs: 0 }),
      clock,
      random: () => 0.5,
      renewMs: options.renewMs ?? NEVER,
      onNews: (one) => news.push(one),
      onHealth: (trouble) => health.push(trouble),
      onResumed: (some) => resumed.push(some),
      onReplaced: () => {
        count.replaced += 1;
      },
    },
    pairs,
  );
  const stop = new AbortController();
  const running = subscription.run(stop.signal);
  /** Advances the clock. Every 20 seconds the exchange sends `message`, by default a volume. */
  const pass = async (ms: number, message: StreamNews = { kind: "volume", pair: "X", quoteVolume: 1 }) => {
    for (let left = ms; left > 0; left -= 20_000) {
      clock.advance(Math.min(20_000, left));
      if (server.open.length === 0) continue;
      const before = news.length;
      server.say(message);
      await until("the message arrives", () => news.length > before || server.open.length === 0);
    }
    await settle();
  };
  const connected = (count: number) =>
    until(
      `the subscription connects for time ${count}`,
      () => health.filter((one) => one === undefined).length >= count,
    );
  const troubles = () => health.filter((one) => one !== undefined);
  const run = { subscription, server, clock, news, health, resumed, count, pass, connected, troubles };
  if (options.isAwaited ?? true) await connected(1);
  return {
    ...run,
    /** Pauses after failures in milliseconds. Sleeps of 10 s are the timeout of a request. */
    backOffs: () => clock.slept.filter((ms) => ms >= 1_000 && ms < 10_000),
    [Symbol.asyncDispose]: async () => {
      stop.abort();
      await until("every connection is closed", () => server.open.length === 0);
      await running;
      await server[Symbol.asyncDispose]();
    },
  };
}

describe("a connection that fails repeatedly", () => {
  test("is closed after more than 30 silent seconds, and the missed minutes are requested", async () => {
    await using run = await subscribeTo(["A", "B"]);
    const { clock, server, troubles, connected, subscription, resumed } = run;
    for (const [round, waitMs] of [1_500, 2_500, 4_500].entries()) {
      clock.advance(30_000);
      await settle();
      expect(troubles()).toHaveLength(round);
      clock.advance(1_000);
      await until("the silence is noticed", () => troubles().length === round + 1);
      await until("the connection is closed", () => server.open.length === 0);
      expect(troubles()[round]).toBe("was silent for 30 s");
      expect(resumed).toHaveLength(round);
      await until("the subscription waits", () => run.backOffs().length === round + 1);
      expect(run.backOffs().at(-1)).toBe(waitMs);
      clock.advance(waitMs);
      await connected(round + 2);
      expect(resumed.at(-1)).toEqual([...subscription.pairs]);
    }
    expect(server.served.map(({ heard }) => heard)).toEqual(Array(4).fill(["+A", "+B"]));
  });

  test("is closed when it sends no candle for more than 120 s, whatever else it sends", async () => {
    await using run = await subscribeTo(["A"]);
    const { clock, pass, troubles, connected } = run;
    await pass(100_000);
    await pass(20_000, candleNews("A", 0));
    for (const round of [1, 2]) {
      await pass(120_000);
      expect(troubles()).toHaveLength(round - 1);
      clock.advance(1_000);
      await until("the stream without candles is noticed", () => troubles().length === round);
      expect(troubles().at(-1)).toBe("sent no candle for 120 s");
      await until("the subscription waits", () => run.backOffs().length === round);
      clock.advance(run.backOffs().at(-1) ?? 0);
      await connected(round + 1);
    }
  });

  test("may be without candles while nothing is subscribed", async () => {
    await using run = await subscribeTo([]);
    const { clock, pass, troubles, subscription } = run;
    await pass(300_000);
    subscription.change(["A"], []);
    await pass(100_000);
    subscription.change([], ["A"]);
    await pass(300_000);
    subscription.change(["B"], []);
    await pass(120_000);
    expect(troubles()).toEqual([]);
    clock.advance(1_000);
    await until("the stream without candles is noticed", () => troubles().length === 1);
  });

  test("starts a new series of failures if it was open for more than a minute", async () => {
    await using run = await subscribeTo(["A"]);
    const { clock, pass, server, connected } = run;
    for (const [round, [openMs, waitMs]] of (
      [
        [60_000, 1_500],
        [60_000, 2_500],
        [60_001, 1_500],
        [0, 2_500],
      ] as const
    ).entries()) {
      await pass(openMs, candleNews("A", 0));
      server.cut();
      await until("the subscription waits", () => run.backOffs().length === round + 1);
      expect(run.backOffs().at(-1)).toBe(waitMs);
      clock.advance(waitMs);
      await connected(round + 2);
    }
  });

  test("counts as alive while the exchange sends pings", async () => {
    await using run = await subscribeTo([]);
    const { clock, server, troubles } = run;
    for (let round = 0; round < 3; round++) {
      clock.advance(20_000);
      const [served] = server.open;
      const answered = new Promise((resolve) => served?.socket.once("pong", resolve));
      served?.socket.ping();
      await answered;
    }
    expect(troubles()).toEqual([]);
  });

  test("is retried after a refusal; so is its ticket", async () => {
    await using run = await subscribeTo(["A"], { hasTicket: true });
    const { clock, server, troubles, connected } = run;
    server.isRefusing = true;
    server.cut();
    await until("the subscription waits", () => run.backOffs().length === 1);
    clock.advance(1_500);
    await until("the refusal is noticed", () => troubles().length === 2);
    expect(troubles().at(-1)).toBe("rejected the stream (503)");
    server.isRefusing = false;
    server.answer = () => undefined;
    await until("the subscription waits", () => run.backOffs().length === 2);
    clock.advance(2_500);
    await until("the missing ticket is noticed", () => troubles().length === 3);
    expect(troubles().at(-1)).toBe("returned 404");
    server.answer = (path) => server.usual(path);
    await until("the subscription waits", () => run.backOffs().length === 3);
    clock.advance(4_500);
    await connected(2);
  });

  test("names the reason of a refused connection without the address", async () => {
    const server = await new ScriptedVenue().listen();
    const { stream } = server.venue;
    const endpoint = stream.endpoint(undefined);
    await server[Symbol.asyncDispose]();
    const clock = new ManualClock();
    const connection = new StreamConnection({ stream, endpoint, clock, pairs: [], onNews: () => {} });
    expect(await connection.ended).toBe("refused the connection");
  });

  test("is reopened when the exchange announces its end", async () => {
    await using run = await subscribeTo(["A"]);
    const { clock, server, troubles, connected } = run;
    for (const round of [1, 2]) {
      server.say({ kind: "ending", reason: `ends ${round}` });
      await until("the end is noticed", () => troubles().length === round);
      expect(troubles().at(-1)).toBe(`ends ${round}`);
      await until("the connection is closed", () => server.open.length === 0);
      await until("the subscription waits", () => run.backOffs().length === round);
      clock.advance(run.backOffs().at(-1) ?? 0);
      await connected(round + 1);
    }
  });

  test("does not receive later changes, which are sent once on the open connection", async () => {
    await using run = await subscribeTo(["A"]);
    const { clock, server, connected, subscription } = run;
    for (const round of [1, 2, 3]) {
      server.cut();
      await until("the subscription waits", () => run.backOffs().length === round);
      clock.advance(run.backOffs().at(-1) ?? 0);
      await connected(round + 1);
    }
    const before = server.subscribeCalls;
    subscription.change(["B"], []);
    await until("the change arrives", () => server.open[0]?.heard.at(-1) === "+B");
    expect(server.subscribeCalls).toBe(before + 1);
  });

  test("is closed by a stop before the exchange's greeting", async () => {
    const run = await subscribeTo(["A"], { greets: true, isAwaited: false });
    await until("the exchange is connected", () => run.server.open.length === 1);
    await run[Symbol.asyncDispose]();
    expect([run.server.served.length, run.health]).toEqual([1, []]);
  });

  test("leaks no timers or listeners when it is reopened", async () => {
    await using run = await subscribeTo(["A"]);
    const { clock, server, connected } = run;
    const running = stillRunning();
    expect(running.length).toBeGreaterThan(0);
    for (let round = 0; round < 3; round++) {
      server.cut();
      await until("the subscription waits", () => run.backOffs().length === round + 1);
      clock.advance(run.backOffs().at(-1) ?? 0);
      await connected(round + 2);
      await settle();
      expect(stillRunning()).toEqual(running);
    }
  });
});

describe("messages to an exchange", () => {
  test("wait for its greeting, respect its pause, and remove pairs before adding others", async () => {
    await using run = await subscribeTo(["A", "B"], { greets: true, pauseMs: 300, isAwaited: false });
    const { clock, server, subscription, health, connected } = run;
    await until("the exchange is connected", () => server.open.length === 1);
    await settle();
    expect(server.served[0]?.heard).toEqual([]);
    server.say({ kind: "welcome" });
    const heard = (...texts: readonly string[]) =>
      until(`${texts.join(" ")} arrive`, () => server.served[0]?.heard.join() === texts.join());
    await heard("+A");
    subscription.change(["C"], ["A"]);
    clock.advance(299);
    await settle();
    expect([server.served[0]?.heard, health]).toEqual([["+A"], []]);
    clock.advance(1);
    await heard("+A", "+B");
    await settle();
    clock.advance(300);
    await connected(1);
    await heard("+A", "+B", "-A");
    await settle();
    clock.advance(300);
    await heard("+A", "+B", "-A", "+C");
    expect([...subscription.pairs]).toEqual(["B", "C"]);
  });

  test("include pings at its interval", async () => {
    let pings = 0;
    const ping = { everyMs: 18_000, text: () => `ping ${++pings}` };
    await using run = await subscribeTo([], { ping });
    const { clock, server, pass } = run;
    clock.advance(17_999);
    expect(pings).toBe(0);
    for (const count of [1, 2, 3]) {
      await pass(count === 1 ? 1 : 18_000);
      await until("the exchange is pinged", () => server.served[0]?.heard.at(-1) === `ping ${count}`);
    }
  });
});

describe("a connection replaced because of its age", () => {
  const renewMs = 100_000;

  test("is closed when the new one is ready, which then carries all pairs", async () => {
    await using run = await subscribeTo(["A"], { renewMs });
    const { server, pass, subscription, news, resumed, health, count } = run;
    const running = stillRunning();
    for (const round of [1, 2, 3]) {
      await pass(renewMs, candleNews("A", 0));
      await until(
        "the old one is closed",
        () => server.served.length === round + 1 && server.open.length === 1,
      );
      expect(server.served.at(-1)).toMatchObject({
        isOpen: true,
        heard: [...subscription.pairs].map((one) => `+${one}`),
      });
      subscription.change([`P${round}`], []);
      await until("the new one carries changes", () => server.open[0]?.heard.at(-1) === `+P${round}`);
      const before = news.length;
      server.say(candleNews("A", round));
      await until("news arrives over the new one", () => news.length > before);
      await settle();
      expect(stillRunning()).toEqual(running);
    }
    expect([resumed, health, count.replaced]).toEqual([[], [undefined], 3]);
  });

  test("stays if no new one can be opened, receives changes, and is replaced later", async () => {
    await using run = await subscribeTo(["A"], { renewMs });
    const { server, pass, subscription, health } = run;
    const running = stillRunning();
    server.isRefusing = true;
    for (const pair of ["B", "C"]) {
      await pass(renewMs, candleNews("A", 0));
      await until("the subscription waits again", () => stillRunning().join() === running.join());
      subscription.change([pair], []);
      await until("the old one carries changes", () => server.served[0]?.heard.at(-1) === `+${pair}`);
    }
    server.isRefusing = false;
    await pass(renewMs, candleNews("A", 0));
    await until("the old one is closed", () => server.served.length === 2 && server.open.length === 1);
    expect(server.open[0]?.heard).toEqual(["+A", "+B", "+C"]);
    expect(run.count.replaced).toBe(1);
    expect(health).toEqual([undefined]);
  });

  test("receives changes while the new one is opening, for up to 30 s", async () => {
    await using run = await subscribeTo(["A"], { renewMs, greets: true, isAwaited: false });
    const { server, clock, connected, subscription, pass, health } = run;
    await until("the exchange is connected", () => server.open.length === 1);
    server.say({ kind: "welcome" });
    await connected(1);
    await pass(renewMs, candleNews("A", 0));
    await until("a new one is tried", () => server.open.length === 2);
    subscription.change(["B"], ["A"]);
    await until("the old one carries changes", () => server.served[0]?.heard.join() === "+A,-A,+B");
    clock.advance(29_999);
    await settle();
    expect(server.open).toHaveLength(2);
    server.served[0]?.socket.send(JSON.stringify(candleNews("B", 0)));
    clock.advance(1);
    await until("the new one is closed", () => server.served[1]?.isOpen === false);
    expect(server.served[0]?.isOpen).toBe(true);
    expect(health).toEqual([undefined]);
  });
});
