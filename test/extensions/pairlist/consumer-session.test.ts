import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import type { CloseReason } from "../../../src/base/protocol/index.ts";
import { ConsumerSession } from "../../../src/extensions/pairlist/consumer-session.ts";
import { readPairQuery } from "../../../src/extensions/pairlist/pair-query.ts";

/** Creates a consumer whose socket is full after each write. */
function fullConsumer() {
  const written: string[] = [];
  const closed: CloseReason[] = [];
  const gone: ConsumerSession[] = [];
  const socket = {
    progress: 0,
    outlet: new PassThrough(),
    awaitDrain: () => {},
    write: (bytes: Buffer) => {
      written.push(String(bytes));
      return false;
    },
    close: (reason: CloseReason) => void closed.push(reason),
    terminate: () => {},
  };
  const host = {
    frameOf: () => Buffer.from("asked"),
    gone: (session: ConsumerSession) => void gone.push(session),
    monotonicMs: () => 0,
    limits: { commandsPerSecond: 5, commandsBurst: 20 },
  };
  const session = new ConsumerSession(host, socket, readPairQuery({}));
  session.receiveText('{"type":"subscribe","data":["whitelist"]}');
  return { session, written, closed, gone };
}

test("[L5] for a consumer that does not read, only the newest list is buffered", () => {
  const { session, written } = fullConsumer();
  for (const list of ["1", "2", "3", "4"]) session.publish(Buffer.from(list));
  expect(written).toEqual(["1"]);
  session.drained();
  expect(written).toEqual(["1", "4"]);
  session.drained();
  expect(written).toEqual(["1", "4"]);
});

test("nothing is written after a close, which is sent once", () => {
  const { session, written, closed, gone } = fullConsumer();
  session.close("draining");
  session.close("unauthorized");
  session.publish(Buffer.from("1"));
  session.receiveText('{"type":"whitelist"}');
  session.closed();
  expect([written, closed, gone]).toEqual([[], ["draining"], [session]]);
});
