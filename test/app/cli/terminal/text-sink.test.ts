import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Writable } from "node:stream";
import { expect, test } from "vitest";
import { openSink } from "../../../../src/app/cli/terminal/text-sink.ts";
import { newDirectory } from "../../../support/servers/edges.ts";

/** A pipe that fails from write number `lost`, counted from 0, because its reader has left. */
function pipe(lost: number): Writable & { readonly texts: string[] } {
  const texts: string[] = [];
  const write: Writable["_write"] = (chunk, _encoding, done) => {
    const broken = Object.assign(new Error("broken pipe"), { code: "EPIPE" });
    // Reports the failure later, as the system does.
    if (texts.length >= lost) setImmediate(() => done(broken));
    else {
      texts.push(String(chunk));
      done();
    }
  };
  return Object.assign(new Writable({ write }), { texts });
}

test("after close, all text has been written", async ({ onTestFinished }) => {
  const out = pipe(Number.POSITIVE_INFINITY);
  const file = join(newDirectory(onTestFinished), "out.txt");
  for (const sink of [await openSink("-", out), await openSink(file, out)]) {
    await sink.write("one\n");
    await sink.write("two\n");
    await sink.close();
  }
  expect([out.texts.join(""), readFileSync(file, "utf8")]).toEqual(["one\ntwo\n", "one\ntwo\n"]);
});

test("if the pipe breaks at its first or second write, close rejects", async () => {
  for (const [lost, length] of [
    [0, 10],
    [1, 70_000],
  ] as const) {
    const sink = await openSink("-", pipe(lost));
    await sink.write("x".repeat(length));
    await sink.write("the rest");
    await expect(sink.close()).rejects.toMatchObject({ code: "EPIPE" });
  }
});
