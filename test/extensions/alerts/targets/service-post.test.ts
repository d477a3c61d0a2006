import { getEventListeners, once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { postToService } from "../../../../src/extensions/alerts/targets/service-post.ts";

const SECRET = "123456:a-secret-of-a-bot";

/** Posts to a service that responds with this description, and returns the outcome. */
async function postTo(description: unknown, stopping: AbortSignal) {
  const server = createServer((_request, response) => {
    response.writeHead(400).end(JSON.stringify({ description }));
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const post = {
    service: "Chat",
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    message: {},
    allowPrivateAddresses: true,
    secrets: [SECRET],
    read: (reply: unknown) => ({ isAccepted: false, ...(reply as { readonly description: unknown }) }),
  };
  const outcome = await postToService(stopping, post);
  server.close();
  return outcome;
}

test("a secret that a service repeats is masked, even where the service's text is cut off", async () => {
  const { signal } = new AbortController();
  for (let before = 170; before <= 200; before += 10) {
    const { kind, reason } = { reason: "", ...(await postTo(`${"x".repeat(before)}${SECRET}`, signal)) };
    expect([kind, reason]).toEqual(["refused", expect.stringMatching(/^Chat returned 400: x{170,200}\**$/)]);
  }
});

test("a description that is not text does not hide the response's status", async () => {
  const { signal } = new AbortController();
  const reason = "Chat returned 400";
  expect(await postTo({ toString: 1, valueOf: 1 }, signal)).toMatchObject({ kind: "refused", reason });
});

test("a finished post leaves no listener on the abort signal", async () => {
  const { signal } = new AbortController();
  await postTo("no", signal);
  expect(getEventListeners(signal, "abort")).toHaveLength(0);
});
