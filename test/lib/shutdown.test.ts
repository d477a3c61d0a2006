import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { EXIT, watchShutdown } from "../../src/lib/shutdown.ts";

class FakeProcess extends EventEmitter {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

test("the first signal asks to stop and names itself, the second exits at once", async () => {
  const source = new FakeProcess();
  const shutdown = watchShutdown(source);
  expect(shutdown.signal.aborted).toBe(false);
  source.emit("SIGTERM");
  expect(await shutdown.requested).toBe("SIGTERM");
  expect(shutdown.signal.aborted).toBe(true);
  expect(source.exits).toEqual([]);
  source.emit("SIGINT");
  expect(source.exits).toEqual([EXIT.retry]);
});

test("when it is disposed of, nothing listens any more", () => {
  const source = new FakeProcess();
  watchShutdown(source).dispose();
  expect(source.eventNames()).toEqual([]);
});
