import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as passing } from "node:timers/promises";
import { freePort } from "../../../support/servers/free-port.ts";
import type { BenchServer } from "../harness/bench-server.ts";
import { LineProcess } from "../harness/line-process.ts";
import { debianProgram } from "../harness/on-demand.ts";

/**
 * Starts Debian's nginx in one process, which serves these bytes as a file at `/api/v1/snapshot`
 * or, given a port, passes requests to the gateway there as `examples/deploy/nginx.conf` does.
 * Rejects if it cannot start.
 */
export async function startNginx(served: Buffer | number): Promise<BenchServer> {
  const program = debianProgram("nginx", "usr/sbin/nginx").path;
  const root = mkdtempSync(join(tmpdir(), "flarewire-nginx-"));
  mkdirSync(join(root, "api/v1"), { recursive: true });
  if (typeof served !== "number") writeFileSync(join(root, "api/v1/snapshot"), served);
  const port = await freePort();
  writeFileSync(
    join(root, "nginx.conf"),
    config(root, port, typeof served === "number" ? served : undefined),
  );
  const child = new LineProcess("server", program, [
    "-p",
    root,
    "-c",
    join(root, "nginx.conf"),
    "-e",
    "stderr",
  ]);
  let ended: unknown;
  child.line().catch((error) => {
    ended = error;
  });
  for (let tries = 0; !(await answers(port)); tries += 1) {
    if (ended || tries > 250) throw ended ?? new Error("nginx does not answer");
    await passing(20);
  }
  return {
    ...{ pid: child.pid, port, control: 0 },
    order: async () => null,
    stop: async () => {
      await child.stop();
      rmSync(root, { recursive: true, force: true });
    },
  };
}

const PASS = `proxy_pass http://gateway; proxy_http_version 1.1; proxy_buffering off; proxy_set_header Connection "";
    proxy_set_header Host $http_host; proxy_set_header X-Forwarded-For $remote_addr;`;

function config(root: string, port: number, gateway: number | undefined): string {
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
  return `
daemon off; master_process off; ${process.getuid?.() === 0 ? "user root;" : ""} pid ${root}/pid; error_log stderr crit;
events { worker_connections 1024; }
http {
  ${paths.map((name) => `${name}_temp_path ${root}/${name};`).join(" ")}
  access_log off; sendfile on; tcp_nopush on; open_file_cache max=10; keepalive_requests 1000000000;
  ${gateway === undefined ? "" : `upstream gateway { server 127.0.0.1:${gateway}; keepalive 64; keepalive_requests 1000000000; }`}
  server { listen 127.0.0.1:${port}; root ${root}; location / { ${gateway === undefined ? "default_type application/json;" : PASS} } }
}`;
}

async function answers(port: number): Promise<boolean> {
  const { ok } = await fetch(`http://127.0.0.1:${port}/api/v1/snapshot`).catch(() => ({ ok: false }));
  return ok;
}
