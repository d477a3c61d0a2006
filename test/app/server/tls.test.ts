import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { request } from "node:https";
import { type AddressInfo, connect as connectPlain, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect, getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { WebSocket } from "ws";
import { createLogger } from "../../../src/app/server/create-logger.ts";
import { FEW_HANDSHAKES, MAX_HANDSHAKES_PER_ADDRESS, TlsServer } from "../../../src/app/server/tls-server.ts";
import { connect as follow } from "../../../src/clients/sdk/index.ts";
import { createConfig, startGateway } from "../../../src/index.ts";
import { type Finish, hasty, newDirectory } from "../../support/servers/edges.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { ManualClock } from "../../support/time/manual-clock.ts";
import { eventually } from "../../support/time/waiters.ts";

// Not every machine has IPv6, so localhost has two IPv4 addresses here.
vi.mock("node:dns/promises", () => ({
  lookup: async () => ["127.0.0.1", "127.0.0.2"].map((address) => ({ address, family: 4 })),
}));

type TlsParts = Parameters<typeof TlsServer.open>[1];

/** Directory of certificates for all tests, because each certificate needs a run of openssl. */
let certificates = "";
beforeAll(() => {
  certificates = mkdtempSync(join(tmpdir(), "flarewire-tls-"));
});
afterAll(() => rmSync(certificates, { recursive: true, force: true }));

/** Returns a self-signed certificate for 127.0.0.1 and its key. Creates them at the first call. */
function certify(name: string) {
  const [cert, key] = [join(certificates, `${name}.crt`), join(certificates, `${name}.key`)] as const;
  if (existsSync(cert)) return { cert, key };
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const names = ["-subj", `/CN=${name}`, "-addext", "subjectAltName=IP:127.0.0.1"];
  const files = ["-keyout", key, "-out", cert];
  execFileSync("openssl", ["req", "-x509", ...newKey, ...files, ...names], { stdio: "pipe" });
  return { cert, key };
}

/** Starts a gateway with a certificate of its own. Collects the lines that it logs. */
async function startSecured(onTestFinished: Finish, host = "127.0.0.1") {
  const directory = newDirectory(onTestFinished);
  const [first, second] = [certify("first"), certify("second")];
  const [tlsCert, tlsKey] = [join(directory, "tls.crt"), join(directory, "tls.key")];
  const install = ({ cert, key }: { cert: string; key: string }) => {
    for (const [from, to] of [
      [cert, tlsCert],
      [key, tlsKey],
    ] as const) {
      copyFileSync(from, `${to}.new`);
      renameSync(`${to}.new`, to);
    }
  };
  install(first);
  const lines: string[] = [];
  const logger = createLogger("info", { write: (line) => lines.push(line) });
  const market = { feed: "replay", warmup: "0s", speed: 300, compression: false } as const;
  const config = createConfig({ host, port: await freePort(), drain: "0", ...market, tlsCert, tlsKey });
  const gateway = await startGateway(config, { ...hasty(), logger });
  onTestFinished(() => gateway.stop());
  return { gateway, first, second, install, lines, url: new URL(gateway.url) };
}

/** Completes handshakes on its own port until the test ends. Counts the reasons of refusals. */
async function acceptSecurely(
  onTestFinished: Finish,
  more: Partial<TlsParts> = {},
  trustProxy: readonly string[] = [],
) {
  const { cert: tlsCert, key: tlsKey } = certify("own");
  const clock = new ManualClock();
  const counts: string[] = [];
  const refusals = { count: (reason: string) => void counts.push(reason) };
  const logger = { info: () => {}, error: () => {} };
  const parts = { clock, logger, refusals, onSecure: () => {}, room: () => 4_096, ...more };
  const tls = await TlsServer.open({ tlsCert, tlsKey, trustProxy }, parts);
  onTestFinished(() => tls?.stop());
  const listener = createServer((socket) => tls?.accept(socket)).listen(0, "127.0.0.1");
  onTestFinished(() => void listener.close());
  await once(listener, "listening");
  return { tls, listener, counts, clock, port: (listener.address() as AddressInfo).port };
}

/** Returns the common name in the certificate that the server presents. */
async function nameAt({ port }: URL, host = "127.0.0.1"): Promise<unknown> {
  const socket = connect({ host, port: Number(port), rejectUnauthorized: false });
  await once(socket, "secureConnect");
  const { subject } = socket.getPeerCertificate();
  socket.destroy();
  return subject.CN;
}

async function status(
  { port }: URL,
  path: string,
  ca: string,
  localAddress = "127.0.0.1",
): Promise<number | undefined> {
  const asked = request({ host: "127.0.0.1", port, path, ca, localAddress, agent: false }).end();
  const [message] = (await once(asked, "response")) as [IncomingMessage];
  message.resume();
  await once(message, "end");
  return message.statusCode;
}

test("with tlsCert and tlsKey, the port serves HTTPS, WSS, SSE and polls, and nothing without TLS", async ({
  onTestFinished,
}) => {
  const { gateway, url, first } = await startSecured(onTestFinished);
  expect(gateway.url).toMatch(/^https:\/\/127\.0\.0\.1:\d+$/);
  const ca = readFileSync(first.cert, "utf8");
  expect(await status(url, "/readyz", ca)).toBe(200);
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, ca]);
  try {
    for (const transport of ["websocket", "sse", "poll"] as const) {
      const stream = follow(gateway.url, { channels: ["*"], transport });
      await new Promise<void>((resolve, reject) => {
        stream.on("event", () => resolve());
        stream.on("error", reject);
      });
      stream.close();
    }
  } finally {
    setDefaultCACertificates(before);
  }
  const plain = httpRequest({ host: "127.0.0.1", port: url.port, path: "/readyz", agent: false }).end();
  await expect(once(plain, "response")).rejects.toThrow();
  // Connections that never begin a handshake are limited per address, so others are served.
  const silent = await Promise.all(
    Array.from({ length: MAX_HANDSHAKES_PER_ADDRESS }, async () => {
      const socket = connectPlain(Number(url.port), "127.0.0.1");
      await once(socket, "connect");
      return socket;
    }),
  );
  expect(await status(url, "/healthz", ca, "127.0.0.2")).toBe(200);
  await expect(status(url, "/healthz", ca)).rejects.toThrow();
  for (const socket of silent) socket.destroy();
  await expect.poll(() => status(url, "/healthz", ca).catch(() => 0)).toBe(200);
});

test("pending handshakes are limited to the connections that are left, but a few are always allowed", async ({
  onTestFinished,
}) => {
  for (const room of [FEW_HANDSHAKES + 4, 0]) {
    const { listener, counts, port } = await acceptSecurely(onTestFinished, { room: () => room });
    for (let begun = 0; begun < Math.max(room, FEW_HANDSHAKES); begun += 1) {
      const silent = connectPlain(port, "127.0.0.1");
      onTestFinished(() => void silent.destroy());
      await once(listener, "connection");
    }
    expect(counts.splice(0)).toEqual([]);
    const late = connectPlain(port, "127.0.0.1");
    await once(late.resume(), "close");
    expect(counts.splice(0)).toEqual(["handshakes"]);
  }
});

test("the limit of handshakes per address does not apply to a trusted proxy, which has many clients", async ({
  onTestFinished,
}) => {
  for (const trustProxy of [[], ["loopback"]]) {
    const { listener, counts, port } = await acceptSecurely(onTestFinished, {}, trustProxy);
    let begun = 0;
    listener.on("connection", () => (begun += 1));
    for (let at = 0; at <= MAX_HANDSHAKES_PER_ADDRESS; at += 1) {
      const silent = connectPlain(port, "127.0.0.1").on("error", () => {});
      onTestFinished(() => void silent.destroy());
    }
    await eventually(
      () => begun > MAX_HANDSHAKES_PER_ADDRESS,
      () => begun,
      { what: "all connections" },
    );
    expect(counts).toEqual(trustProxy.length === 0 ? ["handshakes"] : []);
  }
});

test("a connection whose client has ended it, but does not read the rest, is closed after five seconds", async ({
  onTestFinished,
}) => {
  const secured = Promise.withResolvers<Socket>();
  const { clock, port } = await acceptSecurely(onTestFinished, { onSecure: secured.resolve });
  const client = connect({ port, host: "127.0.0.1", rejectUnauthorized: false });
  onTestFinished(() => void client.destroy());
  const socket = (await secured.promise).resume();
  // Far more than the kernel buffers.
  socket.write(Buffer.alloc(64 * 1_048_576));
  client.end();
  await once(socket, "end");
  clock.advance(4_999);
  expect(socket.destroyed).toBe(false);
  clock.advance(1);
  await expect.poll(() => socket.destroyed).toBe(true);
});

test("a server that stops ends the handshakes in progress", async ({ onTestFinished }) => {
  const { tls, listener, port } = await acceptSecurely(onTestFinished);
  const silent = connectPlain(port, "127.0.0.1");
  await once(listener, "connection");
  tls?.stop();
  await once(silent.resume(), "close");
});

test("a new certificate is used within seconds and keeps open connections; an invalid pair is reported and not used", async ({
  onTestFinished,
}) => {
  const { url, first, second, install, lines, gateway } = await startSecured(onTestFinished);
  const ca = readFileSync(first.cert, "utf8");
  const client = new WebSocket(`wss://127.0.0.1:${url.port}/api/v1/stream?channels=*`, { ca });
  await once(client, "message");
  const presents = (name: string) => expect.poll(() => nameAt(url), { interval: 200 }).toBe(name);
  install(second);
  await presents("second");
  await once(client, "message");
  install({ cert: first.cert, key: second.key });
  const reported = () => lines.some((line) => line.includes("the previous ones stay in use"));
  await eventually(reported, () => lines.slice(-3), { what: "the report of the invalid pair" });
  expect([await nameAt(url), gateway.freshness().reason]).toEqual([
    "second",
    expect.stringContaining("the TLS certificate or its key is invalid"),
  ]);
  install(first);
  await presents("first");
  expect(gateway.freshness().reason).not.toContain("TLS");
  expect(lines.join()).not.toContain("PRIVATE");
  client.close();
  await once(client, "close");
});

test("with TLS, a gateway on localhost listens on all its addresses, and on none after it has stopped", async ({
  onTestFinished,
}) => {
  const { url, gateway } = await startSecured(onTestFinished, "localhost");
  const names = ["127.0.0.1", "127.0.0.2"].map((host) => nameAt(url, host));
  expect(await Promise.all(names)).toEqual(["first", "first"]);
  await gateway.stop();
  await expect(nameAt(url)).rejects.toThrow("ECONNREFUSED");
  await expect(nameAt(url, "127.0.0.2")).rejects.toThrow("ECONNREFUSED");
});

test("a gateway does not start with an unusable certificate or key", async () => {
  const [mine, other] = [certify("mine"), certify("other")];
  const start = (tlsCert: string, tlsKey: string) =>
    startGateway(createConfig({ port: 0, logLevel: "silent", tlsCert, tlsKey }));
  await expect(start(mine.cert, other.key)).rejects.toThrow(/mine\.crt: .*other\.key is not its key/);
  await expect(start(mine.key, mine.key)).rejects.toThrow(/mine\.key: it is not a certificate in PEM/);
  chmodSync(mine.key, 0o666);
  await expect(start(mine.cert, mine.key)).rejects.toThrow(/mine\.key: any user on this machine can write/);
  expect(() => createConfig({ tlsCert: mine.cert })).toThrow("TLS needs both tlsCert and tlsKey");
});
