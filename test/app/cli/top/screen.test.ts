import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { Screen } from "../../../../src/app/cli/top/screen.ts";
import { shownLines } from "../spawn-pty.ts";

/** A terminal. While `slow`, a write completes only when the test calls `take`. */
class SlowTerminal extends Writable {
  text = "";
  take: () => void = () => {};
  slow = false;

  constructor() {
    super({ highWaterMark: 1 });
  }

  override _write(chunk: Buffer, _encoding: string, done: () => void): void {
    this.text += chunk;
    if (this.slow) this.take = done;
    else done();
  }
}

test("only changed lines are written, and a resized terminal is redrawn", () => {
  const terminal = new SlowTerminal();
  const screen = new Screen(terminal);
  screen.enter();
  screen.draw(["one", "two", "three"]);
  expect(shownLines(terminal.text)).toEqual(["one", "two", "three"]);
  const before = terminal.text.length;
  screen.draw(["one", "TWO", "three"]);
  expect(terminal.text.slice(before)).toBe("\u001B[2;1H\u001B[KTWO");
  screen.draw(["one"]);
  expect(shownLines(terminal.text)).toEqual(["one", "", ""]);
  const drawn = terminal.text.length;
  screen.draw(["one"]);
  expect(terminal.text).toHaveLength(drawn);
  screen.invalidate();
  screen.draw(["one"]);
  expect(terminal.text.slice(drawn)).toBe("\u001B[2J\u001B[1;1H\u001B[Kone");
});

test("while the terminal is slow, states are skipped; then the newest one is drawn", async () => {
  const terminal = new SlowTerminal();
  const screen = new Screen(terminal);
  screen.enter();
  terminal.slow = true;
  for (let at = 0; at < 100; at += 1) screen.draw([`state ${at}`]);
  expect(terminal.writableLength).toBeLessThan(100);
  terminal.slow = false;
  const drained = new Promise((resolve) => terminal.once("drain", resolve));
  terminal.take();
  await drained;
  screen.draw(["state 100"]);
  expect(shownLines(terminal.text)).toEqual(["state 100"]);
  expect(terminal.text).not.toContain("state 50");
});

test("the screen is entered and left once, and nothing is drawn before or after", () => {
  const terminal = new SlowTerminal();
  const screen = new Screen(terminal);
  screen.draw(["early"]);
  screen.enter();
  screen.leave();
  screen.leave();
  screen.draw(["late"]);
  screen.enter();
  expect(terminal.text).toBe("\u001B[?1049h\u001B[?7l\u001B[?25l\u001B[2J\u001B[?7h\u001B[?25h\u001B[?1049l");
});
