import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, type TestAPI } from "vitest";
import { startLedGateway } from "../examples/led-gateway.ts";
import { IS_SOAK } from "../support/law-runs.ts";
import { environmentOfNode } from "./copy-of-sources.ts";
import { CLIENT_PACKAGES, type InstalledPackages } from "./installed-package.ts";
import { NO_PROBLEM, publint } from "./publint.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const run = promisify(execFile);
const MAX_BUNDLE = 7_000;

const BOT = `import { connect, type Flare, type FlareStarted, type StreamItem } from "@flarewire/client";
import { type Flares, useFlares } from "@flarewire/react";

const stream = connect(process.argv[2] ?? "", { channels: ["*"], filter: { sticky: true, min_price_change: -100 } });
const symbolOf = (flare: Flare): string => flare.token.symbol + flare.token.address.slice(42);
const started = ({ data }: FlareStarted) => symbolOf(data.flare);
export const hook: (server: string) => Flares = useFlares;
for await (const item of stream) {
  const { name }: StreamItem = item;
  console.log(name);
  if (item.name === "flare-started") console.log(started(item));
  if (item.name === "reset") continue;
  console.log(stream.connection.transport);
  break;
}
stream.close();
`;

/** Passes options that may be undefined, and lists that must not change. */
const CAREFUL_BOT = `import { connect, type Filter, type View } from "@flarewire/client";
declare const process: { env: Record<string, string | undefined> };
const { SERVER = "", KEY: key, AFTER: after } = process.env;
const tokens: readonly string[] = ["0xab"];
const filter: Filter = { tokens, names: ["flare-started"] as const, min_age: undefined };
const mode = after === undefined ? undefined : "latest" as const;
export const stream = connect(SERVER, { key, after, mode, filter, channels: undefined, signal: undefined });
stream.update({ channels: undefined, filter: undefined });
export const inPlace = (view: View): void => {
  // @ts-expect-error: the lists of a view are not the reader's to change.
  view.flares?.pro?.sort();
};
`;

/** Compares the published types, generated from schemas, with those of the sources. */
const SAME_TYPES = `import type * as packed from "@flarewire/client";
import type * as own from "${ROOT}src/clients/sdk/index.ts";
type Fixed<T> = T extends readonly unknown[] ? Readonly<{ [K in keyof T]: Fixed<T[K]> }>
  : T extends object ? { [K in keyof T]: Fixed<T[K]> } : T;
// The schemas narrow the channels of surges and outcomes, which the types of the sources do not.
type Narrower<A, B> = [A] extends [Fixed<B>] ? true : never;
type Same<A, B> = [A] extends [Fixed<B>] ? ([B] extends [A] ? true : never) : never;
export const same: [
  Narrower<packed.StreamItem, own.StreamItem>, Narrower<packed.EventBody, own.EventBody>, Same<packed.View, own.View>,
  Same<packed.Filter, own.Filter>, Same<packed.Flare, own.Flare>, Same<packed.ChartItem, own.ChartItem>,
  Same<packed.LeaderboardEntry, own.LeaderboardEntry>, Same<packed.Listing, own.Listing>,
  Same<packed.Outcome, own.Outcome>, Same<packed.Explanation, own.Explanation>,
  Same<keyof packed.Stream, keyof own.Stream>, Same<packed.Stream["server"], own.Stream["server"]>,
  Same<keyof packed.ConnectOptions, keyof own.ConnectOptions>, Same<packed.DataFreshness, own.DataFreshness>,
] = [true, true, true, true, true, true, true, true, true, true, true, true, true, true];
`;

async function checkTypes(project: string, options: object, ...files: readonly string[]): Promise<string> {
  const strict = { strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true };
  const shared = { target: "es2024", lib: ["es2024", "dom"], noEmit: true, skipDefaultLibCheck: true };
  const compilerOptions = { ...strict, ...shared, types: [], ...options };
  await writeFile(join(project, "tsconfig.json"), JSON.stringify({ compilerOptions, files }));
  const tsc = run(join(ROOT, "node_modules/.bin/tsc"), ["-p", project, "--singleThreaded"]);
  return tsc.then(
    () => "",
    ({ stdout }) => String(stdout),
  );
}

/** Adds the tests of the client packages, which share a build with the tests of `flarewire`. */
export function testClientPackages(test: TestAPI<{ installed: InstalledPackages }>): void {
  test("@flarewire/client needs no package, @flarewire/react only the client and React, and publint finds no problem", async ({
    installed: { clientProject: project },
    skip,
  }) => {
    for (const name of CLIENT_PACKAGES) {
      const folder = join(project, "node_modules/@flarewire", name);
      const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8"));
      const { dependencies = {}, peerDependencies = {}, optionalDependencies = {} } = manifest;
      const needed = Object.keys({ ...dependencies, ...peerDependencies, ...optionalDependencies });
      expect(needed).toEqual(name === "react" ? ["@flarewire/client", "react"] : []);
      const readme = await readFile(join(folder, "README.md"), "utf8");
      expect(readme).toContain(`from "@flarewire/${name}"`);
      expect(readme).not.toMatch(/\]\((?!http)/);
      expect((await publint(folder)) ?? skip("npm cannot fetch publint")).toMatch(NO_PROBLEM);
    }
  });

  const extent = IS_SOAK ? ", for Node and for bundlers, and equal those of the sources" : " for Node";
  test(`the types of the client packages are complete under strict rules${extent}`, async ({
    installed: { clientProject: project },
  }) => {
    await writeFile(join(project, "bot.ts"), `declare const process: { argv: string[] };\n${BOT}`);
    await writeFile(join(project, "same.ts"), SAME_TYPES);
    const node = { module: "node16", moduleResolution: "node16" };
    await writeFile(join(project, "careful-bot.ts"), CAREFUL_BOT);
    expect(await checkTypes(project, node, "bot.ts", "careful-bot.ts")).toBe("");
    if (!IS_SOAK) return;
    const bundler = { module: "esnext", moduleResolution: "bundler" };
    expect(await checkTypes(project, bundler, "bot.ts")).toBe("");
    const sources = { ...bundler, allowImportingTsExtensions: true, skipLibCheck: true };
    const types = { types: ["node"], typeRoots: [join(ROOT, "node_modules/@types")] };
    expect(await checkTypes(project, { ...sources, ...types }, "bot.ts", "same.ts")).toBe("");
  });

  test.for(["20.19.6", "22.18.0"])(
    "a bot of the client packages runs on Node %s",
    async (version, { installed: { clientProject: project }, skip }) => {
      const env = environmentOfNode(version);
      if (!env) return skip(`npm cannot fetch Node ${version}`);
      await using market = await startLedGateway();
      const code = BOT.replaceAll(
        /, type \w+|type \w+, |: (Flare|FlareStarted|StreamItem|string)\b/g,
        "",
      ).replace(/hook: .* =/, "hook =");
      await writeFile(join(project, "bot.js"), code);
      const bot = run("node", ["bot.js", market.url], { cwd: project, env });
      bot.child.stdout?.once("data", () => market.start("UNI"));
      const { stdout } = await bot;
      expect(stdout).toBe(`reset\nflare-started\nUNI\n${version.startsWith("20") ? "sse" : "websocket"}\n`);
    },
  );

  test("the client package bundles to at most 7 kB, and a bundle of the React package imports nothing but React", async ({
    installed: { clientProject: project },
  }) => {
    const bundle = async (code: string, external: string[]) => {
      const input = join(project, "page.js");
      await writeFile(input, code);
      await using build = await rolldown({ input, platform: "browser", external });
      const { output } = await build.generate({ format: "es", minify: true });
      return output[0].code;
    };
    const client = await bundle('export { connect, StreamError } from "@flarewire/client";', []);
    expect(gzipSync(client, { level: 9 }).length).toBeLessThanOrEqual(MAX_BUNDLE);
    const both = await bundle('export { useFlares } from "@flarewire/react";', ["react"]);
    expect([...both.matchAll(/from *"([^"]+)"/g)].map(([, name]) => name)).toEqual(["react"]);
  });
}
