import { once } from "node:events";
import { request } from "node:http";
import { connect, type Socket } from "node:net";
import { expect, test } from "vitest";
import { spawnCommand } from "../app/cli/spawn-cli.ts";

const MAIN = process.env.BUNDLED_PROGRAM ?? "src/main.ts";
const SERVE = [MAIN, "serve", "--feed", "replay", "--warmup", "0", "--port", "0", "--drain", "0"];
const OPEN_FILES = 230;

async function status(url: string, localAddress: string): Promise<number> {
  const asked = request(`${url}/healthz`, { localAddress, agent: false }).end();
  const [message] = await once(asked, "response");
  message.resume();
  return message.statusCode;
}

test("[W33] with a low limit on open files, idle connections of one address do not block other addresses", async ({
  onTestFinished,
}) => {
  const limited = `ulimit -n ${OPEN_FILES}; exec "$0" "$@"`;
  const cli = spawnCommand("bash", ["-c", limited, process.execPath, ...SERVE]);
  onTestFinished(() => void cli.child.kill("SIGKILL"));
  await cli.said("stdout", "\n");
  const url = /http:\/\/[\d.]+:\d+/.exec(cli.stdout())?.[0] ?? "";
  await cli.said(
    "stderr",
    new RegExp(`maxSockets 10000 needs \\d+ open files and the limit is ${OPEN_FILES}`),
  );

  const port = Number(new URL(url).port);
  const sockets: Socket[] = [];
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
  });
  const answers = Array.from({ length: 260 }, async () => {
    const socket = connect({ port, host: "127.0.0.1", localAddress: "127.0.0.2" });
    sockets.push(socket);
    socket.on("error", () => {}).write("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    return new Promise<string>((resolve) => {
      socket.once("data", (bytes) => resolve(String(bytes).slice(9, 12)));
      socket.once("close", () => resolve("cut"));
    });
  });
  const served = (await Promise.all(answers)).filter((answer) => answer === "200").length;
  expect(served).toBeGreaterThan(20);
  expect(served).toBeLessThan(OPEN_FILES / 2);
  for (let again = 0; again < 20; again++) expect(await status(url, "127.0.0.3")).toBe(200);
  await cli.said("stderr", '"reason":"connections-of-address"');
  const asked = request(`${url}/metrics`, { localAddress: "127.0.0.3" }).end();
  const [message] = await once(asked, "response");
  const text = Buffer.concat(await message.toArray()).toString();
  const refused = /flarewire_refusals_total\{reason="connections-of-address"\} (\d+)/.exec(text)?.[1];
  expect(Number(refused)).toBe(260 - served);
});
