import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { spawnCli } from "../cli/spawn-cli.ts";
import { freePort, HAS_REDIS, type RedisServer, startRedis } from "./redis-servers.ts";

const PASSWORD = "secret";

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

describe.skipIf(!HAS_REDIS)("a gateway whose cluster's server has TLS and a password", () => {
  let server: RedisServer;
  let certificates: ReturnType<typeof makeCertificates>;
  const directory = mkdtempSync(join(tmpdir(), "flarewire-tls-"));
  beforeAll(async () => {
    certificates = makeCertificates(directory);
    const { key, certificate, authority } = certificates;
    const port = `${await freePort()}`;
    server = await startRedis(
      {
        ...{ port: "0", "tls-port": port, "tls-cert-file": certificate, "tls-key-file": key },
        ...{ "tls-ca-cert-file": authority, "tls-auth-clients": "no", requirepass: PASSWORD },
      },
      { password: PASSWORD, tls: { rejectUnauthorized: false } },
    );
  });
  afterAll(async () => {
    await server?.dispose();
    rmSync(directory, { recursive: true, force: true });
  });

  const start = (environment: Record<string, string>) => {
    const address = `rediss://127.0.0.1:${server.port}`;
    const market = ["--feed", "replay", "--warmup", "0", "--speed", "300"];
    return spawnCli(["serve", "--port", "0", "--cluster", address, ...market], environment);
  };

  test("starts with the file of its certificate authority and the password, and serves", async () => {
    await using cli = start({
      NODE_EXTRA_CA_CERTS: certificates.authority,
      FLAREWIRE_CLUSTER_PASSWORD: PASSWORD,
    });
    await cli.said("stdout", "\n");
    const url = /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0];
    expect((await fetch(`${url}/api/v1/snapshot`)).status).toBe(200);
  });

  test.each([
    ["a certificate that it does not trust", {}, "self-signed certificate in certificate chain"],
    ["a wrong password", { FLAREWIRE_CLUSTER_PASSWORD: "other" }, "WRONGPASS"],
  ])("ends at once with %s, and says which setting to change", async (what, environment, reason) => {
    const isTrusted = what === "a wrong password";
    await using cli = start({
      FLAREWIRE_CLUSTER_PASSWORD: PASSWORD,
      ...(isTrusted ? { NODE_EXTRA_CA_CERTS: certificates.authority } : {}),
      ...environment,
    });
    expect(await cli.ended()).toBe(1);
    expect(cli.stderr()).toContain(`cannot use the cluster's server: ${reason}`);
    expect(cli.stderr()).toMatch(/FLAREWIRE_CLUSTER_PASSWORD.*NODE_EXTRA_CA_CERTS/);
    expect(cli.stderr()).not.toContain(PASSWORD);
  });
});
