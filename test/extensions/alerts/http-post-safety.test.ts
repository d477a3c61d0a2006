import dns from "node:dns";
import { once } from "node:events";
import { createServer } from "node:https";
import { syncBuiltinESMExports } from "node:module";
import type { AddressInfo } from "node:net";
import tls from "node:tls";
import { afterEach, expect, test, vi } from "vitest";
import { postHttp } from "../../../src/extensions/alerts/delivery/http-post.ts";
import { EXPIRED, FOR_ANOTHER, FOR_THIS_MACHINE, type TestCertificate } from "./certificates.ts";
import { Receiver } from "./webhook-fixture.ts";

const trusted = tls.getCACertificates("default");

afterEach(() => {
  vi.restoreAllMocks();
  syncBuiltinESMExports();
  tls.setDefaultCACertificates(trusted);
});

const post = (url: string, more: object = {}) =>
  postHttp({
    url,
    headers: {},
    body: "{}",
    allowPrivateAddresses: true,
    timeoutMs: 60_000,
    signal: new AbortController().signal,
    ...more,
  });

/** Starts a TLS receiver with this certificate. `posted` has the paths of its requests. */
async function startSecure({ cert, key }: TestCertificate) {
  const posted: string[] = [];
  const server = createServer({ cert, key }, (request, response) => {
    posted.push(String(request.url));
    response.writeHead(204).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    posted,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}

test.each([
  ["a self-signed certificate", FOR_THIS_MACHINE, [], "DEPTH_ZERO_SELF_SIGNED_CERT"],
  ["a certificate for another name", FOR_ANOTHER, [FOR_ANOTHER], "ERR_TLS_CERT_ALTNAME_INVALID"],
  ["an expired certificate", EXPIRED, [EXPIRED], "CERT_HAS_EXPIRED"],
])("nothing is posted to a receiver with %s, and the reason has the error's code", async (...given) => {
  const [, certificate, authorities, code] = given;
  tls.setDefaultCACertificates(authorities.map(({ cert }) => cert));
  await using receiver = await startSecure(certificate);
  expect(await post(receiver.url)).toEqual({ kind: "failed", reason: expect.stringContaining(code) });
  expect(receiver.posted).toEqual([]);
});

test("a receiver with a valid certificate gets the message", async () => {
  tls.setDefaultCACertificates([FOR_THIS_MACHINE.cert]);
  await using receiver = await startSecure(FOR_THIS_MACHINE);
  expect(await post(receiver.url)).toMatchObject({ kind: "answered", status: 204 });
  expect(receiver.posted).toEqual(["/hook"]);
});

test("a name that resolves to a private address is rejected, even if it was public before, with one lookup per post", async () => {
  await using receiver = new Receiver();
  await receiver.up();
  const { port } = new URL(receiver.url);
  const answers = [["93.184.215.14"], ["127.0.0.1"], ["93.184.215.14", "127.0.0.1"], []];
  let over = new AbortController();
  const lookedUp: string[] = [];
  // A hostile resolver. It aborts the post that gets a public address, so no outside host is used.
  const rebinding = (name: string, _options: unknown, callback: (...given: unknown[]) => void) => {
    lookedUp.push(name);
    const addresses = answers[lookedUp.length - 1] ?? [];
    if (lookedUp.length === 1) over.abort();
    callback(
      null,
      addresses.map((address) => ({ address, family: 4 })),
    );
  };
  vi.spyOn(dns, "lookup").mockImplementation(rebinding as unknown as typeof dns.lookup);
  syncBuiltinESMExports();
  const reasons: string[] = [];
  for (const _ of answers) {
    over = new AbortController();
    const answer = await post(`http://rebind.example:${port}/hook`, {
      allowPrivateAddresses: false,
      signal: over.signal,
    });
    reasons.push(answer.kind === "failed" ? answer.reason : "posted");
  }
  expect(reasons).toEqual([
    expect.stringMatching(/abort/i),
    expect.stringMatching(/^rebind\.example resolves to 127\.0\.0\.1, which is not a public address/),
    expect.stringMatching(/^rebind\.example resolves to 127\.0\.0\.1, which is not a public address/),
    "rebind.example resolves to no address",
  ]);
  expect(lookedUp).toHaveLength(answers.length);
  expect(receiver.attempts).toEqual([]);
});
