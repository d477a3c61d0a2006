import { test as base, expect } from "vitest";
import { postHttp } from "../../../src/extensions/alerts/delivery/http-post.ts";
import { isPublicAddress } from "../../../src/extensions/alerts/delivery/public-address.ts";
import { secretBytes, signWebhook } from "../../../src/extensions/alerts/targets/webhook.ts";
import { Receiver, SECRET, status } from "./webhook-fixture.ts";

const test = base.extend<{ receiver: Receiver }>({
  // biome-ignore lint/correctness/noEmptyPattern: vitest requires a pattern.
  receiver: async ({}, use) => {
    await using receiver = new Receiver();
    await receiver.up();
    await use(receiver);
  },
});

const body = JSON.stringify({
  type: "test",
  timestamp: "2026-11-21T00:00:00Z",
  data: { name: "é\u{1f525}" },
});
const post = (url: string, more: object = {}) =>
  postHttp({
    url,
    headers: { ...signWebhook(secretBytes(SECRET), { id: "msg_1", body }, 0) },
    body,
    allowPrivateAddresses: true,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    ...more,
  });

test("the body arrives byte for byte, and the result has the status and the Retry-After", async ({
  receiver,
}) => {
  receiver.answer = status(429, { "retry-after": "7" });
  expect(await post(receiver.url)).toEqual({ kind: "answered", status: 429, retryAfter: "7" });
  expect(receiver.attempts[0]?.body).toBe(body);
});

test("a redirect is not followed", async ({ receiver }) => {
  receiver.answer = status(307, { location: receiver.url });
  expect(await post(receiver.url)).toMatchObject({ status: 307 });
  expect(receiver.attempts).toHaveLength(1);
});

test("a post resolves at the headers of an endless response, and times out without a response", async ({
  receiver,
}) => {
  receiver.answer = (response) => response.writeHead(200).write("x".repeat(1_000_000));
  expect(await post(receiver.url)).toMatchObject({ status: 200 });
  receiver.answer = () => {};
  expect(await post(receiver.url, { timeoutMs: 50 })).toEqual({
    kind: "failed",
    reason: "no response within 50 ms",
  });
});

test("a receiver that closes, is absent or speaks another protocol is a failure with the error's code", async ({
  receiver,
}) => {
  receiver.answer = (response) => response.socket?.end("hello\r\n\r\n");
  expect(await post(receiver.url)).toMatchObject({ kind: "failed", reason: expect.stringMatching(/HPE_/) });
  receiver.answer = (response) => response.destroy();
  expect(await post(receiver.url)).toMatchObject({
    kind: "failed",
    reason: expect.stringMatching(/ECONNRESET/),
  });
  await receiver.down();
  expect(await post(receiver.url)).toMatchObject({
    kind: "failed",
    reason: expect.stringMatching(/ECONNREFUSED/),
  });
});

test("a protocol upgrade is a failure", async ({ receiver }) => {
  receiver.answer = (response) =>
    response.socket?.end("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n");
  expect(await post(receiver.url)).toEqual({
    kind: "failed",
    reason: "the receiver closed the connection without a response",
  });
});

test("a private address is rejected without a request, in several notations and behind a name", async ({
  receiver,
}) => {
  const { port } = new URL(receiver.url);
  const hosts = ["127.0.0.1", "localhost", "2130706433", "0x7f.1", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"];
  for (const host of hosts) {
    const answer = await post(`http://${host}:${port}/hook`, { allowPrivateAddresses: false });
    expect(answer, host).toMatchObject({
      kind: "failed",
      reason: expect.stringMatching(/not a public address; set allow_private_addresses/),
    });
  }
  expect(receiver.attempts).toEqual([]);
});

test.each([
  ["93.184.215.14", true],
  ["2606:4700::6810:84e5", true],
  ["10.1.2.3", false],
  ["172.16.0.1", false],
  ["192.168.1.1", false],
  ["169.254.169.254", false],
  ["100.63.255.255", true],
  ["100.64.0.1", false],
  // Metadata servers and wire servers of clouds: Alibaba, Azure, Oracle, AWS over IPv6.
  ["100.100.100.200", false],
  ["168.63.129.16", false],
  ["::ffff:168.63.129.16", false],
  ["168.63.129.15", true],
  ["168.63.129.17", true],
  ["192.0.0.192", false],
  ["fd00:ec2::254", false],
  ["198.18.0.1", false],
  ["240.0.0.1", false],
  ["224.0.0.1", false],
  ["255.255.255.255", false],
  ["fe80::1", false],
  ["fc00::1", false],
  ["64:ff9b::a00:1", false],
  ["2002:a00:1::", false],
  ["::ffff:10.0.0.1", false],
  ["::7f00:1", false],
  ["4000::1", false],
  ["no address", false],
])("%s is public: %s", (address, isPublic) => {
  expect(isPublicAddress(address)).toBe(isPublic);
});
