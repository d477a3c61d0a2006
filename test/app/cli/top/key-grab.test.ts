import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import { grabKeys } from "../../../../src/app/cli/top/terminal-control.ts";

/** A keyboard that records the changes of its raw mode. */
class KeyboardUnderTest extends PassThrough {
  readonly isTTY: boolean;
  readonly modes: boolean[] = [];

  constructor(isTTY: boolean) {
    super();
    this.isTTY = isTTY;
  }

  setRawMode(isRaw: boolean): this {
    this.modes.push(isRaw);
    return this;
  }
}

test("the keyboard is raw until paused or released, and reports nothing after the release", async () => {
  const keyboard = new KeyboardUnderTest(true);
  const received: string[] = [];
  const grab = grabKeys(keyboard, (keys) => received.push(...keys));
  const press = async (text: string) => {
    keyboard.write(text);
    await new Promise((resolve) => setImmediate(resolve));
  };
  await press("q\u001B[A\u0003");
  expect(received).toEqual(["q", "\u001B[A", "\u0003"]);
  grab.pause();
  grab.resume();
  expect(keyboard.modes).toEqual([true, false, true]);
  grab.release();
  expect(keyboard.modes).toEqual([true, false, true, false]);
  expect([keyboard.listenerCount("data"), keyboard.isPaused()]).toEqual([0, true]);
  await press("late");
  expect(received).toHaveLength(3);
});

test("without a terminal, the input is left unchanged", () => {
  const keyboard = new KeyboardUnderTest(false);
  const grab = grabKeys(keyboard, () => {});
  for (const step of [grab.pause, grab.resume, grab.release]) step();
  expect([keyboard.modes, keyboard.listenerCount("data")]).toEqual([[], 0]);
});
