import { createHash } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import { constants, deflateRawSync } from "node:zlib";
import { describe, expect, vi } from "vitest";
import { flareStarted } from "../../app/cli/scripted-server.ts";
import { Queue } from "../../support/time/waiters.ts";
import { range, test } from "./stream-kit.ts";

/*
 * Tests the SDK against two defects of Node's own WebSocket, as of undici 8.10. Its parser reads
 * nothing after a close frame: if more than its buffer of 64 KiB follows, the socket is paused and
 * never read to its end, and no close event is emitted. If the connection ends while the parser
 * inflates a message, the data before the end is dropped, and the close code is 1006, whatever
 * the server sent.
 */

const DRAINING = frame(0x88, Buffer.from([4_200 >> 8, 4_200 & 0xff]));
const ACCEPT = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** More than the parser and the socket buffer. */
const BEHIND_BYTES = 512 * 1_024;

/** On a slow machine, a late first message must not count as silence. */
const PATIENT = { transport: "websocket", firstMessageMs: 1_000_000 } as const;

/** A connection whose bytes the test writes. */
interface ConnectionHandle {
  readonly raw: Duplex;
  readonly after: string | null;
  send(messages: readonly unknown[]): Buffer;
}

/** Starts a WebSocket server that sends what the test writes, with or without deflate. */
async function serve(isDeflating: boolean) {
  const http = createServer();
  const arrived = new Queue<ConnectionHandle>("a connection");
  const raws: Duplex[] = [];
  http.on("upgrade", ({ headers, url }, raw) => {
    raws.push(raw.on("error", () => {}));
    const accept = createHash("sha1").update(`${headers["sec-websocket-key"]}${ACCEPT}`).digest("base64");
    const lines = [
      "HTTP/1.1 101 Switching Protocols",
      "Upgrade: websocket",
      "Connection: Upgrade",
      `Sec-WebSocket-Accept: ${accept}`,
      "Sec-WebSocket-Protocol: flarewire.v1",
      ...(isDeflating
        ? [
            "Sec-WebSocket-Extensions: permessage-deflate; server_no_context_takeover; client_no_context_takeover",
          ]
        : []),
    ];
    raw.write(`${lines.join("\r\n")}\r\n\r\n`);
    const wire = {
      raw,
      after: new URL(url ?? "/", "http://x").searchParams.get("after"),
      send: (messages: readonly unknown[]) =>
        Buffer.concat(messages.map((message) => textFrame(JSON.stringify(message), isDeflating))),
    };
    arrived.push(wire);
  });
  http.listen(0, "127.0.0.1");
  await once(http, "listening");
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    next: () => arrived.next(),
    [Symbol.asyncDispose]: async () => {
      for (const raw of raws) raw.destroy();
      http.close();
      await once(http, "close");
    },
  };
}

function frame(first: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = length < 126 ? [first, length] : [first, 126, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from(head), payload]);
}

function textFrame(text: string, isDeflating: boolean): Buffer {
  if (!isDeflating) return frame(0x81, Buffer.from(text));
  return frame(0xc1, deflateRawSync(text, { finishFlush: constants.Z_SYNC_FLUSH }).subarray(0, -4));
}

/** Returns `hello` and the answer to a client with this cursor. */
function greeting(after: string | null, silence_limit_ms = 1_000_000): readonly unknown[] {
  const source = { name: "replay", origin: "recorded" };
  const isNew = after === null;
  const snapshot = { flares: { pro: [] }, explanations: {} };
  return [
    { type: "hello", protocol: "flarewire.v1", server: "flarewire/test", silence_limit_ms, source },
    {
      type: "subscribed",
      id: "url",
      channels: ["flares.pro"],
      cursor: after ?? "abcd-0",
      ...(isNew ? { resumed: "reset", snapshot } : { resumed: "full" }),
    },
  ];
}

const events = (first: number, last: number) => range(first, last).map((seq) => flareStarted(seq, `T${seq}`));

describe.each([
  ["deflated", true],
  ["plain", false],
] as const)("Node's own WebSocket, %s", (_name, isDeflating) => {
  test("[W17] [L3] a socket whose close is never reported is dropped at the silence limit, and no event is lost", async ({
    start,
    onTestFinished,
  }) => {
    await using server = await serve(isDeflating);
    const reported: number[] = [];
    class Watched extends WebSocket {
      constructor(url: string, protocol: string) {
        super(url, protocol);
        this.addEventListener("close", ({ code }) => reported.push(code));
      }
    }
    vi.stubGlobal("WebSocket", Watched);
    onTestFinished(() => void vi.unstubAllGlobals());
    const { seqs, resets, until } = start(server.url, PATIENT);
    const { raw, send } = await server.next();
    const ahead = send([...greeting(null, 20_000), ...events(1, 3)]);
    const behind = Buffer.concat(
      Array.from({ length: 100 }, () => send([{ type: "weather", is: "x".repeat(600) }])),
    );
    // Deflated messages are short, so fill the size with repeats.
    raw.end(Buffer.concat([ahead, DRAINING, Buffer.alloc(BEHIND_BYTES, behind)]));
    await until(() => seqs().length === 3);
    const second = await server.next();
    expect(second.after).toBe("abcd-3");
    // If the close were reported, this would not test the silence limit.
    expect(reported).toEqual([]);
    second.raw.write(second.send([...greeting(second.after), ...events(4, 5)]));
    await until(() => seqs().length === 5);
    expect(seqs()).toEqual(range(1, 5));
    expect(resets()).toEqual(["started"]);
  });

  test("[W17] [L3] a socket that receives half a message and then nothing is dropped at the silence limit, and no event is lost", async ({
    start,
  }) => {
    await using server = await serve(isDeflating);
    const { stream, seqs, resets, until } = start(server.url, PATIENT);
    const reasons: string[] = [];
    stream.on("connection", ({ reason }) => reasons.push(reason));
    const { raw, send } = await server.next();
    const half = send(events(4, 4));
    raw.write(
      Buffer.concat([send([...greeting(null, 20_000), ...events(1, 3)]), half.subarray(0, half.length / 2)]),
    );
    const second = await server.next();
    expect(second.after).toBe("abcd-3");
    expect(reasons.join()).toContain("silent for 20000 ms");
    second.raw.write(second.send([...greeting(second.after), ...events(4, 5)]));
    await until(() => seqs().length === 5);
    expect(seqs()).toEqual(range(1, 5));
    expect(resets()).toEqual(["started"]);
  });

  test("[L3] a socket that is closed during a burst is followed by one that resumes after the last delivered event", async ({
    start,
  }) => {
    await using server = await serve(isDeflating);
    const { seqs, resets, until } = start(server.url, PATIENT);
    for (let round = 0; round < 3; round += 1) {
      const { raw, send, after } = await server.next();
      const seq = Number(after?.split("-")[1] ?? 0);
      raw.write(send([...greeting(after), ...events(seq + 1, seq + 1)]));
      await until(() => seqs().at(-1) === seq + 1);
      raw.end(Buffer.concat([send(events(seq + 2, seq + 300)), DRAINING]));
    }
    const { raw, send, after } = await server.next();
    const seq = Number(after?.split("-")[1]);
    raw.write(send([...greeting(after), ...events(seq + 1, seq + 1)]));
    await until(() => seqs().at(-1) === seq + 1);
    expect(seqs()).toEqual(range(1, seq + 1));
    expect(resets()).toEqual(["started"]);
  });
});
