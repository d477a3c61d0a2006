import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { ADMITTED, deploy } from "../../support/tutorials/deploy-host.ts";
import { ROOT } from "../../support/tutorials/run-tutorial.ts";
import { debianProgram } from "../bench/harness/on-demand.ts";

/**
 * Follows DEPLOY.md with the package that npm makes and installs. Resolves with true if a client
 * follows with its key through the proxy, and the server stops in order.
 */
export async function runOperator(proxy: "nginx" | "caddy"): Promise<boolean> {
  const log = await deploy({ isPacked: true, startProxy: proxy === "caddy" ? startCaddy : undefined });
  const [isAdmitted, isDrained] = [ADMITTED.test(log), log.includes('"msg":"stopped"')];
  process.stdout.write(`${proxy}: followed with its key: ${isAdmitted}, drained: ${isDrained}\n`);
  if (!isAdmitted || !isDrained) process.stdout.write(`${log}\n`);
  return isAdmitted && isDrained;
}

const startCaddy: Parameters<typeof deploy>[0]["startProxy"] = ({
  directory,
  certificate,
  key,
  port,
  own,
}) => {
  const caddy = debianProgram("caddy", "usr/bin/caddy").path;
  const bound = `https://localhost:${port} {\n\tbind 127.0.0.1\n\ttls ${certificate} ${key}`;
  const text = readFileSync(join(ROOT, "examples/deploy/Caddyfile"), "utf8")
    .replace("grace_period 5s", "grace_period 1s\n\tadmin off\n\tauto_https disable_redirects")
    .replace("flares.example.org {", bound)
    .replaceAll("127.0.0.1:8080", `127.0.0.1:${own}`);
  writeFileSync(join(directory, "Caddyfile"), text);
  // In a session of its own, which the reader's Ctrl-C does not reach.
  return `cd ${directory} && exec setsid ${caddy} start --config Caddyfile --adapter caddyfile --pidfile proxy.pid > caddy.log 2>&1`;
};
