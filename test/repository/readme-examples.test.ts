import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type { Logger } from "pino";
import { afterAll, expect, onTestFinished, test } from "vitest";
import { createLogger } from "../../src/app/server/create-logger.ts";
import { systemClock } from "../../src/base/lib/time/clock.ts";
import { STREAM_QUERY } from "../../src/gateway/http/stream/stream-query.ts";
import { runInProcess, startInProcess } from "../app/cli/run-in-process.ts";
import { startScriptedServer } from "../app/cli/scripted-server.ts";
import { runShell, serveInProcess } from "../app/cli/shell-in-process.ts";
import { spawnCommand, spawnNode } from "../app/cli/spawn-cli.ts";
import { startLedGateway } from "../examples/led-gateway.ts";
import { StandIn, type StandInPair } from "../feeds/exchange/stand-in.ts";
import { SseClient } from "../support/clients/sse-client.ts";
import { checkMessage } from "../support/expect/contract.ts";
import { checkedFetch } from "../support/expect/validate-response.ts";
import { freePort } from "../support/servers/free-port.ts";
import { findInstalled } from "../support/setup/debian-package.ts";
import { ALL_DOCUMENTS, commandsOf, readDocument } from "./documents.ts";

/*
 * Runs every example of the documents as written, except for the port, the warm-up, and files that
 * a reader would have.
 */

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const { scripts } = JSON.parse(readFileSync(`${ROOT}package.json`, "utf8"));
/** Debian's python3-websockets, which `one-socket.py` needs. */
const WEBSOCKETS = "/usr/lib/python3/dist-packages/websockets";
const directory = mkdtempSync(join(tmpdir(), "flarewire-readme-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

/** The commands of all documents that no test has taken yet. */
const left = [...commandsOf(ALL_DOCUMENTS)];

/** Removes the commands that match from `left`. Returns the words of each. */
function take(pattern: RegExp): readonly (readonly string[])[] {
  const taken = left.filter((line) => pattern.test(line));
  for (const line of taken) left.splice(left.indexOf(line), 1);
  return taken.map((line) =>
    [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? ""),
  );
}

/** Returns the words with the URL of the test's gateway. */
function at(url: string, words: readonly string[]): readonly string[] {
  return words.map((word) => word.replace(/^http:\/\/127\.0\.0\.1:808\d/, url));
}

/** Runs a `serve` command until the test ends. Returns the server's URL. */
async function serve([command, ...args]: readonly string[], logger?: Logger): Promise<string> {
  expect(command).toBe("serve");
  const { url, stop } = await serveInProcess([...args, "--port", "0"], logger);
  onTestFinished(() => stop());
  return url;
}

/** Returns the `serve` command that this `npm start` command runs. */
function served(start: readonly string[]): readonly string[] {
  const [exec, node, main, ...command] = String(scripts.start).split(" ");
  expect([exec, node, main]).toEqual(["exec", "node", "src/main.ts"]);
  return [...command, ...start.slice(start.indexOf("--") + 1)];
}

test("the README clones, installs and starts in three lines, and the script start exists", () => {
  expect(readDocument("README.md")).toMatch(/```sh\ngit clone \S+ (\S+) && cd \1\nnpm ci\nnpm start\n```/);
  take(/^git clone |^npm ci$|^(?:npm ci && )?npm start$/);
  expect(scripts).toHaveProperty("start");
});

test("tail prints the output in the documents for the recorded day", async () => {
  const [tail = []] = take(/flarewire -- tail http/);
  const shown = ALL_DOCUMENTS.split("\n").filter((line) => /^2017-11-12 \d\d:\d\d:00 /.test(line));
  expect(shown).toHaveLength(3);
  const [start = []] = take(/^npm start -- --feed replay$/);
  const url = await serve([...served(start), "--speed", "1200"]);
  const typed = at(url, tail.slice(tail.indexOf("--") + 1));
  await using tailing = startInProcess(typed);
  await tailing.said("stderr", /flarewire tail: following.*\n/);
  const same = (line = "") => line.replace(/\d+\.\d+\.\d+\.\d+:\d+|\d+\.\d+\.\d+\b|from \S+/g, "…");
  const starting = (text: string) =>
    text.split("\n").find((line) => line.startsWith("flarewire tail: following"));
  expect(same(starting(tailing.stderr()))).toBe(same(starting(readDocument("src/clients/sdk/README.md"))));

  // From the first event on, because the flare may have started before a busy machine started the
  // tail.
  const { json: oldest } = await checkedFetch(`${url}/api/v1/events?after=oldest&limit=1`);
  const { cursor } = oldest as { cursor: string };
  await using reading = startInProcess([...typed, "--after", cursor]);
  await reading.said("stdout", /flare-finished {6}flares\.free {8}BTC_BCC.*\n/);
  const said = reading.stdout().split("\n");
  expect(said.filter((line) => line.startsWith("2017-")).slice(0, shown.length)).toEqual(shown);

  const [[, , address = ""] = []] = take(/^curl -s \S+\/snapshot \| head -c 120$/).map((words) =>
    at(url, words),
  );
  const { json } = await checkedFetch(address);
  const begin = (text: string) =>
    text.replace(/[0-9a-f]{16}-\d+|\d{4}-\d\d-\d\dT[\d:.]+Z/g, "…").slice(0, 60);
  const printed = ALL_DOCUMENTS.split("\n").find((line) => line.startsWith('{"cursor"'));
  expect(begin(JSON.stringify(json))).toBe(begin(printed ?? ""));
});

test("top prints a table once without a terminal", async () => {
  await using gateway = await startLedGateway();
  gateway.start("ONE");
  const [words = []] = take(/flarewire -- top/).map((words) => at(gateway.url, words));
  const { code, stdout } = await runInProcess(words.slice(words.indexOf("--") + 1));
  expect([code, stdout]).toEqual([0, expect.stringMatching(/^nothing missed, [\s\S]*symbol[\s\S]*ONE/)]);
});

test("the starter bots report a running flare", async () => {
  await using gateway = await startLedGateway();
  gateway.start("ONE");
  const inTable = ALL_DOCUMENTS.matchAll(/`npx node (examples\/(?:bot|poll)\.ts [^`]+)`/g);
  const bots = [
    ...[...inTable].map(([, command = ""]) => command.split(" ")),
    ...take(/^npx node examples\/bot\.ts/).map((words) => words.slice(2)),
  ];
  expect(new Set(bots.map((words) => words[0]))).toEqual(new Set(["examples/bot.ts", "examples/poll.ts"]));
  const [tail = []] = take(/^npm run .*flarewire -- tail$/);
  await using tailing = startInProcess([...tail.slice(tail.indexOf("--") + 1), gateway.url]);
  await tailing.said("stderr", "following");
  for (const words of new Map(bots.map((words) => [words.join(" "), words])).values()) {
    await using bot = spawnNode(at(gateway.url, words));
    await bot.said("stdout", "ONE");
  }
});

test("the bot of the README runs with the command below it, says that it waits for a server, and ends with the reason of one that refuses it", async () => {
  const [, written = ""] = /<!-- bot -->\n```ts\n([\s\S]*?)```/.exec(readDocument("README.md")) ?? [];
  const [[npx, node, name = ""] = []] = take(/^npx node mybot/);
  expect([npx, node]).toEqual(["npx", "node"]);
  await using gateway = await startLedGateway();
  // In an ignored folder of the clone, where the bot finds the package.
  mkdirSync(`${ROOT}.on-demand`, { recursive: true });
  const folder = mkdtempSync(`${ROOT}.on-demand/readme-`);
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, name);
  const follow = (url: string) => {
    writeFileSync(file, written.replace(/"http:[^"]+"/, JSON.stringify(url)));
    return spawnNode([file]);
  };
  await using waiting = follow(`http://127.0.0.1:${await freePort()}`);
  await waiting.said("stderr", /^connecting \nwaiting no answer: .*ECONNREFUSED/);
  await using server = await startScriptedServer();
  const headers = { "Content-Type": "application/problem+json" };
  server.refuse = { status: 403, headers, body: '{"detail":"the key does not allow it"}' };
  await using refused = follow(server.url);
  expect(await refused.ended()).toBe(1);
  expect(refused.stderr()).toBe("connecting \nclosed HTTP 403 the key does not allow it\n");
  await using bot = follow(gateway.url);
  await bot.said("stdout", "0 flares now\n");
  gateway.start("ONE");
  await bot.said("stdout", "+ ONE price ");
  gateway.finish("ONE");
  await bot.said("stdout", "- ONE faded\n");
  expect(bot.stderr()).toBe("connecting \nlive \n");
});

test("one-line shell commands follow the flares, by SSE and by WebSocket", async () => {
  const lines = left.filter((line) => /^curl .*\| sed|^websocat/.test(line));
  for (const line of lines) left.splice(left.indexOf(line), 1);
  const [curl = "", websocat = ""] = lines;
  const hasWebsockets = findInstalled(() => existsSync(WEBSOCKETS), "python3", "python3-websockets");
  const hasCurl = findInstalled(() => existsSync("/usr/bin/curl"), "curl");
  await using gateway = await startLedGateway();
  const own = (line: string) => line.replace("127.0.0.1:8080", new URL(gateway.url).host);
  const [, protocol = "", address = ""] =
    /^websocat -n --protocol (\S+) '([^']+)'$/.exec(own(websocat)) ?? [];
  const commands = [
    ...(hasCurl ? [["bash", "-c", `set -m; trap 'kill -- -$!' EXIT; (${own(curl)}) & wait`]] : []),
    ...(hasWebsockets ? [["/usr/bin/python3", "test/repository/one-socket.py", protocol, address]] : []),
  ];
  for (const [command = "", ...args] of commands) {
    await using following = spawnCommand(command, args);
    await following.said("stdout", '"type":"subscribed"');
    gateway.start("ONE");
    await following.said("stdout", '"symbol":"ONE"');
    const said = following.stdout().trim().split("\n");
    if (command !== "bash") expect(said.shift()).toBe("flarewire.v1");
    const types = said.map((line): unknown => JSON.parse(line).type);
    expect(types).toEqual(["hello", "subscribed", "event"]);
    gateway.finish("ONE");
    following.child.kill("SIGTERM");
    await following.ended();
  }
});

test("the requests and the stream work on the simulated market as written", async () => {
  const url = await serve(["serve", "--warmup", "0"]);
  for (const words of take(/^curl (?!.*(?:Bearer|\|))/)) {
    const address = at(url, words).at(-1) ?? "";
    if (!words.includes("-H")) {
      const { status, json } = await checkedFetch(address);
      expect([status, json]).toMatchObject([200, { events: expect.any(Array), more: expect.any(Boolean) }]);
      continue;
    }
    const [name = "", value = ""] = words[words.indexOf("-H") + 1]?.split(": ") ?? [];
    const stream = await SseClient.open(address, { [name]: value });
    await stream.until(() => stream.events.length >= 2);
    expect(stream.events.slice(0, 2).map(({ event }) => event)).toEqual(["hello", "subscribed"]);
    stream.cut();
  }
  const address = /`(ws:\/\/[^`]+)`/
    .exec(readDocument("src/clients/sdk/README.md"))?.[1]
    ?.replace(/127\.0\.0\.1:8080/, url.slice("http://".length));
  const socket = new WebSocket(address ?? "");
  const types: unknown[] = [];
  await new Promise<void>((resolve, reject) => {
    socket.onerror = () => reject(new Error(`${address} was refused`));
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data));
      checkMessage(message);
      if (types.push(message.type) === 2) resolve();
    };
  });
  socket.close();
  expect(types).toEqual(["hello", "subscribed"]);
});

test("parameters in documents exist", () => {
  const written = [...ALL_DOCUMENTS.matchAll(/`&(\w+)=/g)].map(([, name]) => name);
  expect(written.length).toBeGreaterThan(6);
  expect(written.filter((name = "") => !(name in STREAM_QUERY))).toEqual([]);
});

test("a user's recording is served, replayed and backtested", async () => {
  const file = join(directory, "candles.csv");
  const minutes = Array.from(
    { length: 30 },
    (_, at) => `${Date.UTC(2017, 10, 12, 0, at)},BTC_ONE,1,1,1,1,10`,
  );
  writeFileSync(file, `time_ms,pair,open,high,low,close,volume\n${minutes.join("\n")}\n`);
  const own = (words: readonly string[]) =>
    words
      .slice(words.indexOf("--") + 1)
      .map((word) =>
        word.startsWith("candles.csv") ? file : /^(out|end)\./.test(word) ? join(directory, word) : word,
      );
  const [serving = []] = take(/flarewire -- serve --file candles/).map(own);
  const url = await serve(serving);
  const [following = []] = take(/flarewire -- serve --source follow:/).map(own);
  const edgeOf = following.slice(0, -2).map((word) => word.replace("http://127.0.0.1:8080", url));
  const edge = await serve(edgeOf);
  expect((await checkedFetch(`${edge}/readyz`)).status).toBe(200);
  const [tail = []] = take(/flarewire -- tail --channels/).map(own);
  await using tailing = startInProcess([...tail.slice(0, 1), url, ...tail.slice(1)]);
  await tailing.said("stderr", "following");
  const [replay = []] = take(/flarewire -- replay/).map(own);
  const { code, stderr } = await runInProcess([...replay]);
  expect([code, stderr]).toEqual([0, expect.any(String)]);
  expect(JSON.parse(readFileSync(join(directory, "end.json"), "utf8"))).toHaveProperty("charts");
  const [backtest = []] = take(/flarewire -- backtest/).map(own);
  const { stdout } = await runInProcess([...backtest]);
  expect(stdout).toContain("0 trades");
});

test("files of other programs are imported", async () => {
  for (const words of take(/flarewire -- import/)) {
    const own = words.slice(words.indexOf("--") + 1);
    const paths = own.map((word) => (word.includes(".") ? join(directory, word) : word));
    const line = /Trades/.test(`${own}`) ? "1,1,2,5,6,1704153600000,false,true" : "1704153600,1,1,1,1,1";
    for (const path of paths.slice(1, -2)) writeFileSync(path, `${line}\n`);
    expect(await runInProcess(paths)).toMatchObject({ code: 0 });
    expect(readFileSync(paths.at(-1) ?? "", "utf8")).toContain("1704153600000");
  }
});

test("a feed is recorded and served", async () => {
  const own = (words: readonly string[]) =>
    words.slice(words.indexOf("--") + 1).map((word) => (word === "recordings" ? directory : word));
  const [recording = []] = take(/flarewire -- record/).map(own);
  const { code, stdout } = await runInProcess([...recording]);
  expect([code, stdout.startsWith(directory)]).toEqual([0, true]);
  const [serving = []] = take(/flarewire -- serve --file recordings/).map((words) =>
    own(words).map((word) => (word.startsWith("recordings/") ? stdout.trim() : word)),
  );
  const url = await serve(serving);
  expect(serving).toContain("--loop");
  const statusOf = async (path: string) => (await checkedFetch(`${url}${path}`)).status;
  // The server listens before it has processed the warm-up.
  await expect.poll(() => statusOf("/api/v1/charts")).toBe(200);
  await expect.poll(() => statusOf("/readyz")).toBe(200);
});

test("the exchanges' markets are served", async () => {
  const [serving = []] = take(/flarewire -- serve --feed exchange/).map((words) =>
    words.slice(words.indexOf("--") + 1),
  );
  const market: StandInPair = { venue: "binance", base: "BTC", quoteVolume: 1e9 };
  await using exchange = await new StandIn(systemClock, [market]).listen();
  const { url: asked, streamUrl } = exchange;
  const own = (words: readonly string[]) => words.slice(words.indexOf("--") + 1);
  const [trying = []] = take(/flarewire -- doctor$/).map(own);
  const [live = []] = take(/flarewire -- serve --feed live$/).map(own);
  const endpoints = [
    ...["--binance-url", asked, "--binance-stream-url", streamUrl],
    ...["--kucoin-url", asked, "--gate-url", asked, "--gate-stream-url", streamUrl],
  ];
  const url = await serve([...serving, ...endpoints]);
  await expect
    .poll(async () => (await checkedFetch(`${url}/api/v1/charts`)).json)
    .toMatchObject({ exchange: [{ token: { symbol: "BTC" } }] });
  const all = [...endpoints, "--live", "exchange", "--enrich", "none"];
  const { code, stdout } = await runInProcess([...trying, ...all]);
  expect([code, stdout]).toEqual([75, expect.stringMatching(/^works {2}binance +stream /m)]);
  // A scenario tests the live market with its chains, on three nodes.
  const whole = await serve([...live, ...all]);
  await expect
    .poll(async () => (await checkedFetch(`${whole}/readyz`)).json)
    .toMatchObject({ parts: [{ name: "exchange", state: "live" }] });
});

test("doctor checks a user's endpoint and does not print its key", async () => {
  const [[variable = "", ...words] = []] = take(/^FLAREWIRE_BSC_RPC=/);
  const [name = "", value = ""] = variable.split("=");
  const closed = value
    .replaceAll("bsc.example.org", "127.0.0.1:9")
    .replaceAll(/(https|wss):/g, (scheme) => scheme.replace("s:", ":"));
  const environment = { [name]: closed.replaceAll("KEY", "SECRET-KEY") };
  const { code, stdout } = await runInProcess(words.slice(words.indexOf("--") + 1), environment);
  expect(code).toBe(75);
  expect(stdout).toMatch(/^fails {2}bsc 127\.0\.0\.1:9 is unreachable.* \(\d checks: chain, /m);
  expect(stdout).toMatch(/^fails {2}bsc 127\.0\.0\.1:9 #2 is unreachable.* \(\d checks: .*, stream\)$/m);
  expect(stdout).not.toContain("SECRET");
});

test("the documented program that embeds the gateway equals the type-checked one, and runs", async () => {
  const [, written = ""] = /```ts\n([\s\S]*?)```/.exec(readDocument("src/gateway/OPERATING.md")) ?? [];
  // `npm run check` checks the types of this file.
  expect(written).toBe(readDocument("test/repository/embedding.ts"));
  // Without the warm-up of the simulated market, and without a drain.
  const example = written.replace("{ port: 0 }", '{ port: 0, warmup: "0", drain: "0" }');
  const file = join(directory, "embedding.ts");
  const source = JSON.stringify(pathToFileURL(`${ROOT}src/index.ts`));
  writeFileSync(file, `${example.replace('"flarewire"', source)}\nawait gateway.stop();\n`);
  writeFileSync(join(directory, "package.json"), '{"type":"module"}');
  await import(file);
});

test("the documented commands for keys run as written, and the documented ticket opens a stream", async () => {
  const [, block = ""] = /```sh\n(KEY=[\s\S]*?)```/.exec(readDocument("src/gateway/OPERATING.md")) ?? [];
  for (const line of commandsOf(`\`\`\`sh\n${block}\`\`\``)) left.splice(left.indexOf(line), 1);
  const file = join(directory, "keys.json");
  const port = await freePort();
  const own = block
    .replaceAll("keys.json", file)
    .replace(":8080/", `:${port}/`)
    .replaceAll("npm run --silent flarewire --", "flarewire")
    .replace("npm start --", `flarewire ${served([]).join(" ")} --warmup 0 --port ${port}`);
  const { code, stdout: printed, stderr } = await runShell(own);
  expect([code, printed]).toEqual([0, expect.stringMatching(/\bdesk\b[\s\S]*\{"free":\[.*"pro":\[/)]);
  expect(stderr).toMatch(/flarewire keys: revoked [0-9a-f]{8}\n[\s\S]*stopped\n/);

  const { stdout } = await runInProcess(["keys", "add", "--file", file]);
  const key = stdout.trim();
  const url = await serve(["serve", "--warmup", "0", "--keys", file]);
  await using tailing = startInProcess(["tail", url], { FLAREWIRE_CLIENT_KEY: key });
  await tailing.said("stderr", "following");
  const [, , tickets = ""] = /fetch\(("(\/[^"]+)"), \{ method: "POST"/.exec(ALL_DOCUMENTS) ?? [];
  const headers = { authorization: `Bearer ${key}` };
  const { json } = await checkedFetch(`${url}${tickets}`, { method: "POST", headers });
  const { ticket } = json as { ticket: string };
  const [, stream = ""] = /new EventSource\(`([^`$]+)\$\{ticket\}`\)/.exec(ALL_DOCUMENTS) ?? [];
  const events = await SseClient.open(`${url}${stream}${ticket}`);
  await events.until(() => events.events.length >= 2);
  events.cut();
});

test("the documented conformance command tests a server", async () => {
  await using gateway = await startLedGateway();
  const [[, , script = "", , ...options] = []] = take(/^npm run conformance/).map((words) =>
    at(gateway.url, words),
  );
  const [node = "", ...command] = String(scripts[script]).split(" ");
  expect(node).toBe("node");
  await using trying = spawnNode([...command, ...options, "--rule", "W1"]);
  expect([await trying.ended(), trying.stdout()]).toEqual([0, expect.stringContaining("W1")]);
});

test("a server accepts the documented file of alerts, with one target and three rules", async () => {
  const [, example = ""] =
    /```json\n([\s\S]*?)```/.exec(readDocument("src/extensions/alerts/ALERTS.md")) ?? [];
  const file = join(directory, "alerts.json");
  writeFileSync(file, example);
  const [serving = []] = take(/flarewire -- serve --alerts/).map((words) =>
    words.slice(words.indexOf("--") + 1).map((word) => (word === "alerts.json" ? file : word)),
  );
  const logged: string[] = [];
  const logger = createLogger("info", { write: (line) => void logged.push(line) });
  await serve([...serving, "--warmup", "0"], logger);
  expect(logged.join("")).toMatch(/"targets":1,"rules":3,"msg":"sending alerts"/);
});

test("every command of the documents is tested", () => {
  expect(left).toEqual([]);
});
