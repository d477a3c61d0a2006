import { expect } from "vitest";
import { test } from "../../gateway/http/access/keyed-fixture.ts";
import { follow } from "./stream-kit.ts";

test("debug receives one line per request, message and state, and never the key", async ({
  keyed,
  onTestFinished,
}) => {
  const lines: string[] = [];
  const key = keyed.secret("pro");
  const url = `http://127.0.0.1:${keyed.wire.port}`;
  const debug = (line: string) => lines.push(line);
  const { stream, until, seqs } = follow(url, { key, debug, firstMessageMs: 1e9 });
  onTestFinished(() => stream.close());
  await until(() => stream.connection.state === "live");
  await keyed.wire.publish("list");
  await until(() => seqs().length === 1);
  expect(lines).toEqual([
    "connecting websocket ",
    `POST ${url}/api/v1/tickets`,
    expect.stringMatching(/^hello +\w+-\d+$/),
    expect.stringMatching(/^subscribed +\w+-\d+$/),
    "live websocket ",
    expect.stringMatching(/^event token-listed \w+-\d+$/),
  ]);
  expect(lines.join()).not.toContain(key.slice(0, 12));
});
