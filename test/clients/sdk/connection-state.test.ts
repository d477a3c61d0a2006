import fc from "fast-check";
import { expect, test } from "vitest";
import {
  type ConnectionState,
  type Effect,
  type Input,
  initialState,
  step,
  type Transport,
} from "../../../src/clients/sdk/connection-state.ts";
import type { End } from "../../../src/clients/sdk/transport/end.ts";

const ALL: readonly Transport[] = ["websocket", "sse", "poll"];
const end = (action: End["action"], minMs = 0): End => ({ action, reason: action, minMs });
const ended = (action: End["action"], heard = true, minMs = 0): Input => ({
  type: "ended",
  end: end(action, minMs),
  heard,
});

/** The state machine, with the connection and the timers that its effects started. */
class Machine {
  state: ConnectionState;
  transport: Transport | undefined;
  readonly timers = new Set<string>();

  constructor(transports = ALL) {
    this.state = initialState(transports, 60_000);
    this.input({ type: "online" });
  }

  input(...inputs: readonly Input[]): this {
    for (const input of inputs) {
      if (input.type === "due" || input.type === "upgrade") this.timers.delete(input.type);
      if (input.type === "ended") this.transport = undefined;
      this.state = step(this.state, input);
      for (const effect of this.state.effects) this.#do(effect);
    }
    return this;
  }

  #do(effect: Effect): void {
    if (effect.do === "open") {
      this.timers.clear();
      this.transport = effect.transport;
    } else this.timers.add(effect.do);
  }

  get phase() {
    return this.state.phase.state;
  }

  wait(): Extract<Effect, { do: "due" | "upgrade" }> | undefined {
    return this.timer("due");
  }

  timer(name: "due" | "upgrade"): Extract<Effect, { do: "due" | "upgrade" }> | undefined {
    for (const effect of this.state.effects) {
      if ((effect.do === "due" || effect.do === "upgrade") && effect.do === name) return effect;
    }
    return undefined;
  }

  live(): this {
    return this.input({ type: "answered" }, { type: "settled" });
  }
}

test("[W26] the action of an end decides whether to reconnect at once, after a wait, or never", () => {
  const resumed = new Machine().live().input(ended("resume"));
  expect([resumed.phase, resumed.transport]).toEqual(["connecting", "websocket"]);
  const waits = new Machine().live().input(ended("backoff"));
  expect([waits.phase, waits.wait()]).toEqual(["waiting", { do: "due", minMs: 1_000, spreadMs: 1_000 }]);
  const stops = new Machine().live().input(ended("stop"));
  expect(stops.state.phase).toEqual({ state: "closed", reason: "stop" });
});

test("[W26] a resumed connection that ends again before it is stable is followed by a wait", () => {
  const machine = new Machine().live().input(ended("resume"), { type: "answered" }, ended("resume"));
  expect(machine.phase).toBe("waiting");
});

test("[W26] waits last at least 1 s and grow to 30 s; a delay from the server raises the minimum", () => {
  const machine = new Machine();
  const waits = Array.from({ length: 8 }, () => {
    machine.input(ended("away", false));
    const wait = machine.wait();
    machine.input({ type: "due" });
    return wait;
  });
  expect(waits.map((wait) => wait?.minMs)).toEqual(Array(8).fill(1_000));
  expect(waits.map((wait) => wait?.spreadMs)).toEqual([1, 3, 7, 15, 29, 29, 29, 29].map((s) => s * 1_000));
  expect(machine.input(ended("backoff", false, 20_000)).wait()?.minMs).toBe(20_000);
});

test("[W26] [W31] a delay from the server is limited to 15 minutes, and an invalid one is ignored", () => {
  const asked = [31_536_000_000, Number.POSITIVE_INFINITY, Number.NaN, -5];
  const waits = asked.map((ms) => new Machine().input(ended("backoff", true, ms)).wait()?.minMs);
  expect(waits).toEqual([900_000, 900_000, 1_000, 1_000]);
  const slots = asked.map((ms) => new Machine().live().input({ type: "goaway", ms }).wait()?.minMs);
  expect(slots).toEqual([900_000, 900_000, 0, 0]);
});

test("[W31] a second goaway in a row, before the new connection is stable, is followed by a wait", () => {
  const machine = new Machine().live().input({ type: "goaway", ms: 0 }, { type: "due" });
  machine.input({ type: "answered" }, { type: "goaway", ms: 0 }, { type: "due" });
  expect(machine.phase).toBe("waiting");
});

test("a transport without a message is replaced by the next at once; after the last, the first follows after a wait", () => {
  const machine = new Machine();
  const tried = [machine.transport];
  for (let at = 0; at < 2; at++) tried.push(machine.input(ended("silent", false)).transport);
  expect(tried).toEqual(ALL);
  machine.input(ended("fallback", false));
  expect([machine.phase, machine.input({ type: "due" }).transport]).toEqual(["waiting", "websocket"]);
});

test("a proven transport gets a second attempt; one that falls silent after its answer does not", () => {
  const proven = new Machine().live().input(ended("fallback"), { type: "due" }, ended("fallback", false));
  expect([proven.phase, proven.state.facts.index]).toEqual(["waiting", 0]);
  expect(proven.input({ type: "due" }, ended("fallback", false)).transport).toBe("sse");
  const mute = new Machine().input({ type: "answered" }, ended("silent"));
  expect(mute.transport).toBe("sse");
});

test("after a failure to reach the server, the best transport is tried first again", () => {
  const machine = new Machine().input(ended("fallback", false), ended("away", false), { type: "due" });
  expect(machine.transport).toBe("websocket");
});

test("upgrades from a lesser transport are tried after growing pauses, and a successful one resets them", () => {
  const machine = new Machine().input(ended("fallback", false));
  const waits: (number | undefined)[] = [];
  for (let at = 0; at < 7; at++) {
    machine.input({ type: "answered" });
    waits.push(machine.timer("upgrade")?.minMs);
    machine.input({ type: "settled" }, { type: "upgrade" });
    expect(machine.transport).toBe("websocket");
    machine.input(ended("silent", false));
    expect(machine.transport).toBe("sse");
  }
  expect(waits.map((ms) => (ms ?? 0) / 60_000)).toEqual([1, 2, 4, 8, 16, 16, 16]);
  machine.live().input({ type: "upgrade" }).live();
  expect([machine.state.facts.upgrades, machine.timers.size]).toEqual([0, 0]);
});

test("upgrades from polls try both better transports in turn", () => {
  const machine = new Machine().input(ended("fallback", false), ended("fallback", false)).live();
  expect(machine.transport).toBe("poll");
  expect(machine.input({ type: "upgrade" }).transport).toBe("websocket");
  machine.input(ended("fallback", false), ended("fallback", false)).live();
  expect([machine.state.facts.index, machine.input({ type: "upgrade" }).transport]).toEqual([2, "sse"]);
});

test("[W31] after a goaway the connection stays live until its delay has passed, then the client reconnects at once", () => {
  const machine = new Machine().live().input({ type: "goaway", ms: 700 });
  expect([machine.phase, machine.wait()]).toEqual(["live", { do: "due", minMs: 700, spreadMs: 0 }]);
  expect(machine.input({ type: "due" }).phase).toBe("connecting");
});

test("a hold ends the connection until every hold is released, and close ends it for good", () => {
  const machine = new Machine()
    .live()
    .input({ type: "hold", hold: "hidden" }, { type: "hold", hold: "slow" });
  expect([machine.phase, machine.transport, machine.state.phase.reason]).toEqual([
    "paused",
    undefined,
    "hidden,slow",
  ]);
  expect(machine.input({ type: "release", hold: "slow" }, { type: "online" }).phase).toBe("paused");
  expect(machine.input({ type: "release", hold: "hidden" }).transport).toBe("websocket");
  machine.input({ type: "close" }, { type: "online" }, { type: "due" }, { type: "release", hold: "slow" });
  expect([machine.phase, machine.transport]).toEqual(["closed", undefined]);
});

const action = fc.constantFrom<End["action"]>("stop", "backoff", "resume", "fallback", "silent", "away");
const input = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      type: fc.constant("ended" as const),
      end: fc.record({ action, reason: fc.constant("why"), minMs: fc.nat(5_000) }),
      heard: fc.boolean(),
    }),
  },
  fc.constantFrom<Input>(
    { type: "answered" },
    { type: "settled" },
    { type: "due" },
    { type: "upgrade" },
    { type: "goaway", ms: 500 },
    { type: "hold", hold: "hidden" },
    { type: "hold", hold: "slow" },
    { type: "release", hold: "hidden" },
    { type: "release", hold: "slow" },
    { type: "online" },
  ),
  fc.constantFrom<Input>({ type: "close" }, { type: "online" }),
);
const transports = fc.constantFrom<readonly Transport[]>(ALL, ["websocket"], ["poll"], ["sse", "poll"]);

test("after any inputs there is a connection, a timer that will open one, or a hold, or the stream is closed", () => {
  fc.assert(
    fc.property(transports, fc.array(input, { maxLength: 60 }), (usable, inputs) => {
      const machine = new Machine(usable);
      for (const one of inputs) {
        // Skip impossible inputs: the end of a missing connection, and a timer that was not set.
        if (one.type === "ended" && machine.transport === undefined) continue;
        if ((one.type === "due" || one.type === "upgrade") && !machine.timers.has(one.type)) continue;
        const before = machine.phase;
        machine.input(one);
        const { facts, phase } = machine.state;
        expect(machine.transport !== undefined).toBe(phase.state === "connecting" || phase.state === "live");
        if (phase.state === "waiting") expect([...machine.timers]).toEqual(["due"]);
        if (phase.state === "paused" || phase.state === "closed") expect(machine.timers.size).toBe(0);
        if (phase.state === "paused") expect(phase.holds.length).toBeGreaterThan(0);
        if (before === "closed") expect(phase.state).toBe("closed");
        if (machine.transport) expect(machine.transport).toBe(usable[facts.index]);
        for (const effect of machine.state.effects) {
          if ("minMs" in effect) expect(Number.isFinite(effect.minMs + effect.spreadMs)).toBe(true);
        }
      }
    }),
    { numRuns: 500 },
  );
});

test("no sequence of ends opens more connections without a wait than one more than there are transports", () => {
  const ends = fc.array(
    fc.tuple(
      action.filter((one) => one !== "stop"),
      fc.boolean(),
      fc.boolean(),
    ),
    { maxLength: 40 },
  );
  fc.assert(
    fc.property(transports, ends, (usable, all) => {
      const machine = new Machine(usable);
      let opened = 1;
      for (const [one, heard, answers] of all) {
        if (answers && heard) machine.input({ type: "answered" });
        machine.input(ended(one, heard));
        if (machine.phase === "waiting") {
          machine.input({ type: "due" });
          opened = 1;
        } else opened += 1;
        expect(opened).toBeLessThanOrEqual(usable.length + 1);
      }
    }),
    { numRuns: 500 },
  );
});
