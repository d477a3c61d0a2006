import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { EXIT, watchShutdown } from "../../../src/app/cli/shutdown.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];
  readonly env: Readonly<Record<string, string>>;
  ppid = 4_711;

  constructor(script?: string) {
    super();
    this.env = script === undefined ? {} : { npm_lifecycle_script: script };
  }

  exit(code: number): void {
    this.exits.push(code);
  }
}

test("the first signal requests a stop and is its cause; another one a second later exits at once", async () => {
  const source = new FakeProcess();
  const clock = new ManualClock();
  const shutdown = watchShutdown(source, clock);
  expect(shutdown.signal.aborted).toBe(false);
  source.emit("SIGTERM");
  expect(await shutdown.requested).toBe("SIGTERM");
  expect(shutdown.signal.aborted).toBe(true);
  clock.advance(1_000);
  expect(source.exits).toEqual([]);
  source.emit("SIGINT");
  expect(source.exits).toEqual([EXIT.retry]);
});

test("signals within a second of the first one are the same request to stop", () => {
  const source = new FakeProcess();
  const clock = new ManualClock();
  watchShutdown(source, clock);
  source.emit("SIGINT");
  source.emit("SIGINT");
  clock.advance(999);
  source.emit("SIGTERM");
  expect(source.exits).toEqual([]);
  clock.advance(1);
  source.emit("SIGTERM");
  expect(source.exits).toEqual([EXIT.retry]);
});

test.each([
  "'flarewire'",
  "flarewire",
  '"flarewire"',
  "flarewire serve --port 8080",
  "'node'",
  "FLAREWIRE_PORT=80 node_modules/.bin/flarewire serve > log 2>&1",
])("the end of the parent requests a stop if npm runs the script `%s`", async (script) => {
  const source = new FakeProcess(script);
  const clock = new ManualClock();
  const shutdown = watchShutdown(source, clock);
  clock.advance(5_000);
  expect(shutdown.signal.aborted).toBe(false);
  source.ppid = 1;
  clock.advance(1_000);
  expect(await shutdown.requested).toBe("parent ended");
  clock.advance(5_000);
  expect(source.exits).toEqual([]);
});

test.each([
  undefined,
  "flarewire serve &",
  "flarewire serve & sleep 5",
  "nohup flarewire serve",
  "node deploy.js",
  "vitest",
  "exec node src/main.ts serve",
])("the end of the parent requests no stop if npm runs the script `%s`", (script) => {
  const source = new FakeProcess(script);
  const clock = new ManualClock();
  const shutdown = watchShutdown(source, clock);
  source.ppid = 1;
  clock.advance(5_000);
  expect(shutdown.signal.aborted).toBe(false);
});

test("a disposed shutdown leaves no listener and ignores the end of the parent", () => {
  const source = new FakeProcess("flarewire");
  const clock = new ManualClock();
  const shutdown = watchShutdown(source, clock);
  shutdown.dispose();
  expect(source.eventNames()).toEqual([]);
  source.ppid = 1;
  clock.advance(5_000);
  expect(shutdown.signal.aborted).toBe(false);
});
