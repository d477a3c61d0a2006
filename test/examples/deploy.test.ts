import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, describe, expect, test } from "vitest";
import { isInstalled } from "../cluster/redis-servers.ts";

const FOLDER = fileURLToPath(new URL("../../examples/deploy/cluster/", import.meta.url));
const read = (name: string) => readFileSync(join(FOLDER, name), "utf8");

describe("the files of examples/deploy/cluster", () => {
  const directory = mkdtempSync(join(tmpdir(), "flarewire-deploy-"));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  test.runIf(isInstalled("systemd-analyze"))("have units that systemd accepts", () => {
    const files = ["flarewire", "flarewire-redis", "flarewire-sentinel"].map((name) => {
      const file = join(directory, `${name}.service`);
      // The programs need not be installed here.
      writeFileSync(
        file,
        read(`${name}.service`).replace(/^ExecStart=\S+/m, `ExecStart=${process.execPath}`),
      );
      return file;
    });
    execFileSync("systemd-analyze", ["verify", "--man=no", ...files], { stdio: "pipe" });
  });

  test("name the same servers, Sentinels, cluster and password everywhere", () => {
    const compose = read("compose.yaml");
    const [, name] = /sentinel monitor (\w+) /.exec(read("sentinel.conf")) ?? [];
    for (const text of [compose, read("flarewire.env")])
      expect(text).toMatch(new RegExp(`:26379/${name}$`, "m"));
    for (const file of ["redis.conf", "sentinel.conf", "flarewire.env", "compose.yaml"])
      expect(read(file)).toContain("CHANGE-ME");
    for (const service of ["node", "redis", "sentinel"])
      for (const number of [1, 2, 3]) expect(compose).toContain(`\n  ${service}-${number}:`);
    for (const number of [1, 2, 3]) expect(read("nginx.conf")).toContain(`server 10.0.0.1${number}:8080 `);
  });
});
