import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/base/lib/time/clock.ts";
import { createConfig, startGateway } from "../../../src/index.ts";
import { engineAddress } from "../../../src/scale/cluster/node/engine-address.ts";
import { RedisEngine } from "../../../src/scale/cluster/redis/redis-engine.ts";
import { runInProcess } from "../../app/cli/run-in-process.ts";
import { spawnCli } from "../../app/cli/spawn-cli.ts";
import { freePort } from "../../support/servers/free-port.ts";
import { eventually } from "../../support/time/waiters.ts";
import { pumpedFlags, pumpedSettings } from "../../support/world/pumped-market.ts";
import { answers, ask, HAS_REDIS, type RedisServer, startRedis } from "./redis-servers.ts";
import { HAS_SENTINEL, spawnSentinel } from "./sentinel-servers.ts";

const PASSWORD = "secret";
/** Options of a test's own connections to the servers. */
const ACCESS = { password: PASSWORD, tls: { rejectUnauthorized: false } };

/** Creates a certificate authority and a certificate for 127.0.0.1. Returns their files. */
function makeCertificates(directory: string) {
  const file = (name: string) => join(directory, name);
  const openssl = (...args: readonly string[]) => execFileSync("openssl", args, { stdio: "pipe" });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const authority = { certificate: file("ca.crt"), key: file("ca.key") };
  const [key, request, certificate, names] = ["key", "csr", "crt", "names"].map((end) =>
    file(`server.${end}`),
  );
  if (!key || !request || !certificate || !names) throw new Error("no files");
  writeFileSync(names, "subjectAltName=IP:127.0.0.1");
  const { key: authorityKey, certificate: authorityFile } = authority;
  openssl(
    "req",
    "-x509",
    ...newKey,
    "-keyout",
    authorityKey,
    "-out",
    authorityFile,
    "-subj",
    "/CN=authority",
  );
  openssl("req", ...newKey, "-keyout", key, "-out", request, "-subj", "/CN=server");
  const signing = ["-CA", authorityFile, "-CAkey", authorityKey, "-extfile", names];
  openssl("x509", "-req", "-in", request, "-out", certificate, ...signing);
  return { key, certificate, authority: authorityFile };
}

const directory = mkdtempSync(join(tmpdir(), "flarewire-tls-"));
const ends: (() => unknown)[] = [];
let certificates: ReturnType<typeof makeCertificates>;
beforeAll(() => {
  certificates = makeCertificates(directory);
});
afterAll(async () => {
  for (const end of ends.toReversed()) await end();
  rmSync(directory, { recursive: true, force: true });
});

/** Returns settings of a server or Sentinel that requires TLS and the password. */
async function secure() {
  const { key, certificate, authority } = certificates;
  return {
    port: "0",
    "tls-port": `${await freePort()}`,
    "tls-cert-file": certificate,
    "tls-key-file": key,
    "tls-ca-cert-file": authority,
    "tls-auth-clients": "no",
    "tls-replication": "yes",
    requirepass: PASSWORD,
  };
}

async function startServer(settings: Readonly<Record<string, string>> = {}): Promise<RedisServer> {
  const server = await startRedis({ ...(await secure()), masterauth: PASSWORD, ...settings }, ACCESS);
  ends.push(() => server.dispose());
  return server;
}

/** Options of an engine that appends nothing. */
const ALONE = { name: "n", acknowledgements: 0, retained: 1, clock: systemClock, notify: () => {} };

/** Creates a relay that holds back the server's part of the handshake. */
const holdingRelay = (port: number, held: (readonly [Socket, Socket])[]) =>
  createServer({ allowHalfOpen: true }, (client) => {
    const server = client.pipe(connect({ port, allowHalfOpen: true }));
    for (const socket of [client, server]) socket.on("error", () => {});
    server.once("readable", () => held.push([server, client]));
  });

const addressOf = (cluster: string) => engineAddress({ cluster, clusterUser: "default" }, PASSWORD);

const portOf = (server: Server) => (server.address() as AddressInfo).port;

const trusted = () => ({
  NODE_EXTRA_CA_CERTS: certificates.authority,
  FLAREWIRE_CLUSTER_PASSWORD: PASSWORD,
});

const serve = (address: string) => [
  ...["serve", "--port", "0", "--cluster", address, ...pumpedFlags(), "--warmup", "1h"],
  ...["--loop", "--speed", "600"],
];

/** Trusts the certificate authority in this process during `run`, as NODE_EXTRA_CA_CERTS does. */
async function trusting<T>(run: () => Promise<T>): Promise<T> {
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, readFileSync(certificates.authority, "utf8")]);
  try {
    return await run();
  } finally {
    setDefaultCACertificates(before);
  }
}

describe.skipIf(!HAS_REDIS)("a gateway whose cluster's server requires TLS and a password", () => {
  let address: string;
  beforeAll(async () => {
    address = `rediss://127.0.0.1:${(await startServer()).port}`;
  });

  test("starts with the certificate authority and the password, and serves", async () => {
    const quiet = { port: 0, logLevel: "silent", drain: "0", cluster: address } as const;
    const config = createConfig({ ...quiet, ...pumpedSettings(), warmup: "0" });
    await trusting(async () => {
      const gateway = await startGateway(config, { clusterPassword: PASSWORD });
      const { status } = await fetch(`${gateway.url}/api/v1/snapshot`);
      await gateway.stop();
      expect(status).toBe(200);
    });
  });

  test.each([
    ["an untrusted certificate", PASSWORD, "self-signed certificate in"],
    ["a wrong password", "other", "WRONGPASS"],
  ])("exits with code 1 on %s, and names the settings to check", async (_what, password, reason) => {
    const run = () => runInProcess(serve(address), { FLAREWIRE_CLUSTER_PASSWORD: password });
    const { code, stderr } = await (password === PASSWORD ? run() : trusting(run));
    expect(code).toBe(1);
    expect(stderr).toContain(`cannot use the cluster's server: ${reason}`);
    expect(stderr).toMatch(/FLAREWIRE_CLUSTER_PASSWORD.*NODE_EXTRA_CA_CERTS/);
    expect(stderr).not.toContain(PASSWORD);
  });
});

/** Opens a relay that holds back the server's bytes until it ends, and sends them in one piece. */
async function openLateRelay(port: number) {
  const begun: Promise<unknown>[] = [];
  const ended: Promise<unknown>[] = [];
  const relay = createServer({ allowHalfOpen: true }, (client) => {
    const server = client.pipe(connect({ port, allowHalfOpen: true }));
    for (const socket of [client, server]) socket.on("error", () => {});
    const beginning = once(server, "readable");
    const answered = beginning.then(async () => client.end(await buffer(server)));
    begun.push(beginning);
    ended.push(answered, once(client, "close"));
  });
  await once(relay.listen(0, "127.0.0.1"), "listening");
  return { port: portOf(relay), begun, ended, [Symbol.asyncDispose]: () => relay[Symbol.asyncDispose]() };
}

// The server's certificate and its alert arrive together, so that a socket fails twice. vitest
// reports an unhandled error.
describe.skipIf(!HAS_REDIS)("an engine that does not trust the server's certificate", () => {
  test("causes no unhandled error when it is closed during its handshakes", async () => {
    await using relay = await openLateRelay((await startServer()).port);
    const { connection } = addressOf(`rediss://127.0.0.1:${relay.port}`);
    const engine = new RedisEngine({ connection, ...ALONE });
    await expect.poll(() => relay.begun.length).toBe(2);
    await Promise.all(relay.begun);
    await engine.close();
    await Promise.all(relay.ended);
  });

  test("causes no unhandled error when ioredis abandons a Sentinel during the handshake", async () => {
    // The handshake needs no Sentinel: any server with TLS will do.
    await using relay = await openLateRelay((await startServer()).port);
    const { connection } = addressOf(`rediss+sentinel://127.0.0.1:${relay.port}/market`);
    const engine = new RedisEngine({ connection, ...ALONE });
    await expect.poll(() => relay.begun.length).toBe(2);
    await Promise.all(relay.ended);
    await engine.close();
    await Promise.all(relay.ended);
  });
});

describe.skipIf(!HAS_SENTINEL)(
  "a gateway whose cluster's servers and Sentinel require TLS and a password",
  () => {
    let primary: RedisServer;
    let sentinelPort: number;
    let address: string;
    beforeAll(async () => {
      primary = await startServer();
      // Two replicas, so that the promoted one has a replica.
      for (const replicaof of Array(2).fill(`127.0.0.1 ${primary.port}`)) await startServer({ replicaof });
      const settings = await secure();
      const sentinel = spawnSentinel([
        ...Object.entries(settings).map(([name, value]) => `${name} ${value}`),
        `sentinel monitor market 127.0.0.1 ${primary.port} 1`,
        `sentinel auth-pass market ${PASSWORD}`,
        // On a busy machine a replica may seem down too. The Sentinel then tries again after twice
        // this timeout, whose default is three minutes.
        "sentinel down-after-milliseconds market 2000",
        "sentinel failover-timeout market 5000",
      ]);
      ends.push(() => sentinel.end());
      sentinelPort = Number(settings["tls-port"]);
      await answers(sentinelPort, ACCESS);
      const replicas = () =>
        ask(sentinelPort, (redis) => redis.call("SENTINEL", "REPLICAS", "market"), ACCESS);
      await eventually(
        async () => Object(await replicas()).length === 2,
        () => "the Sentinel does not know both replicas",
      );
      address = `rediss+sentinel://127.0.0.1:${sentinelPort}/market`;
    });

    test("doctor finds the primary and the Sentinel", async () => {
      const examine = async () => {
        const run = () => runInProcess(["doctor", "--feed", "replay", "--cluster", address], trusted());
        const { stdout } = await trusting(run);
        return stdout.match(/^works {2}(cluster +server .* a primary|sentinel .* fail-over is possible)$/gm);
      };
      // On a busy machine, a check may exceed its limit of five seconds.
      await expect.poll(examine).toHaveLength(2);
    });

    test("an engine that is closed while it connects leaves no connection to the Sentinel", async () => {
      const clients = async () =>
        String(await ask(sentinelPort, (redis) => redis.call("CLIENT", "LIST"), ACCESS))
          .trim()
          .split("\n").length;
      await expect.poll(clients).toBe(1);
      const held: (readonly [Socket, Socket])[] = [];
      await using relay = holdingRelay(primary.port, held);
      await once(relay.listen(0, "127.0.0.1"), "listening");
      const { connection } = addressOf(address);
      const there = { host: "127.0.0.1", port: portOf(relay) };
      const engine = new RedisEngine({
        connection: {
          ...connection,
          tls: ACCESS.tls,
          sentinelTLS: ACCESS.tls,
          natMap: (key) => (key === `127.0.0.1:${primary.port}` ? there : null),
        },
        ...ALONE,
      });
      await expect.poll(() => held.length).toBe(2);
      await engine.close();
      const closed = held.map(([, client]) => once(client, "close"));
      for (const [server, client] of held) server.pipe(client);
      await Promise.all(closed);
      await expect.poll(clients).toBe(1);
    });

    test("serves, and continues on a replica when the primary is killed", async () => {
      await using cli = spawnCli(serve(address), trusted());
      await cli.said("stdout", "\n");
      const url = /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0];
      const seq = async () => {
        const { headers } = await fetch(`${url}/api/v1/flares`, { method: "HEAD" });
        return Number(headers.get("flarewire-cursor")?.split("-")[1] ?? 0);
      };
      await expect.poll(seq).toBeGreaterThan(0);
      await primary.kill();
      const before = await seq();
      await expect.poll(seq).toBeGreaterThan(before + 20);
    });

    test("exits with code 1 on a wrong password, and names the setting to check", async () => {
      const run = () => runInProcess(serve(address), { FLAREWIRE_CLUSTER_PASSWORD: "other" });
      const { code, stderr } = await trusting(run);
      expect(code).toBe(1);
      expect(stderr).toMatch(/WRONGPASS.*FLAREWIRE_CLUSTER_PASSWORD/);
    });
  },
);
