import { execFile } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { expect, test, vi } from "vitest";
import { createOpenApi } from "../../../../src/extensions/docs/index.ts";
import { serveExamples } from "../../../gateway/http/example-server.ts";
import { CONTRACTS } from "../../../support/expect/contracts.ts";
import { IS_SOAK } from "../../../support/law-runs.ts";
import type { Finish } from "../../../support/servers/edges.ts";
import { fetchedPackage } from "../../../support/setup/fetched-package.ts";

/* What others make of the served OpenAPI document. Each tool comes from the npm registry. */

const TSC = fileURLToPath(new URL("../../../../node_modules/.bin/tsc", import.meta.url));
const run = promisify(execFile);

// npm fetches up to two hundred packages for a tool.
vi.setConfig({ testTimeout: 600_000 });

/** Not all of the generators can use the compiler of this project yet. */
const PEERS = ["typescript@5.9.3"];

test("the document passes the validator of OpenAPI 3.1, below a base path too", async ({ skip }) => {
  const folder = fetchedPackage("@seriousme/openapi-schema-validator", "2.11.0");
  if (folder === undefined) return skip("npm cannot fetch @seriousme/openapi-schema-validator");
  const { Validator } = await import(pathToFileURL(join(folder, "index.js")).href);
  for (const basePath of ["", "/fw/a"]) {
    const validator = new Validator();
    const { valid, errors } = await validator.validate(
      structuredClone({ ...createOpenApi(basePath, CONTRACTS) }),
    );
    expect(errors).toBeUndefined();
    expect([valid, validator.version]).toEqual([true, "3.1"]);
  }
  const broken = { ...structuredClone(createOpenApi("", CONTRACTS)), paths: { "no-slash": {} } };
  expect((await new Validator().validate(broken)).valid).toBe(false);
});

/** A request that a tool has made of an operation. */
interface Made {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

type Found = readonly { readonly [field: string]: unknown }[];

/** A request of Postman, or a folder of them. */
interface PostmanItem {
  readonly item?: readonly PostmanItem[];
  readonly request: {
    readonly method: string;
    readonly header?: Found;
    readonly url: { readonly path: readonly string[]; readonly query?: Found; readonly variable?: Found };
  };
}

interface BrunoItem {
  readonly items?: readonly BrunoItem[];
  readonly request: {
    readonly method: string;
    readonly url: string;
    readonly params?: Found;
    readonly headers?: Found;
  };
}

/** Of parameters or header fields, those that the tool sends, or the parts of paths. */
function sent(found: Found = [], where?: string): readonly (readonly [name: string, value: string])[] {
  const all = found.filter((one) => where === undefined || one.type === where);
  const used = all.filter(({ disabled, enabled }) => !disabled && enabled !== false);
  return used.map(({ key, name, value }) => [String(key ?? name), String(value)]);
}

function urlOf(base: string, path: string, query: ReturnType<typeof sent>, parts: ReturnType<typeof sent>) {
  const values = new Map(parts);
  const filled = path.replace(/:(\w+)/g, (_, name: string) => encodeURIComponent(values.get(name) ?? ""));
  return `${base}${filled}?${new URLSearchParams(query.map(([...pair]) => pair))}`;
}

const CONVERTERS: Readonly<
  Record<
    string,
    readonly [version: string, convert: (folder: string, text: string) => Promise<readonly Made[]>]
  >
> = {
  "openapi-to-postmanv2": [
    "6.3.3",
    async (folder, text) => {
      const { convertV2 } = createRequire(join(folder, "package.json"))(folder);
      const options = { parametersResolution: "Example" };
      const { result, reason, output } = await promisify(convertV2)({ type: "string", data: text }, options);
      expect([result, reason]).toEqual([true, undefined]);
      const { item: items, variable } = output[0].data;
      const made = ({ item, request }: PostmanItem): readonly Made[] => {
        if (item) return item.flatMap(made);
        const { method, header, url } = request;
        const path = `/${url.path.join("/")}`;
        const target = urlOf(variable[0].value, path, sent(url.query), sent(url.variable));
        return [{ method, url: target, headers: sent(header) }];
      };
      return items.flatMap(made);
    },
  ],
  "@usebruno/converters": [
    "0.23.0",
    async (folder, text) => {
      const entry = createRequire(join(folder, "package.json")).resolve(folder);
      const { openApiToBruno } = await import(pathToFileURL(entry).href);
      const { items, environments } = await openApiToBruno(JSON.parse(text));
      const made = ({ items, request }: BrunoItem): readonly Made[] => {
        if (items) return items.flatMap(made);
        const { method, url, params, headers } = request;
        const path = url.replace("{{baseUrl}}", "");
        const base = environments[0].variables[0].value;
        return [
          {
            method,
            url: urlOf(base, path, sent(params, "query"), sent(params, "path")),
            headers: sent(headers),
          },
        ];
      };
      return items.flatMap(made);
    },
  ],
};

/** Without keys there are no tickets, and fetch opens no WebSocket. */
const EXPECTED = / (2\d\d|304)$|\/api\/v1\/tickets\? 404$|\/api\/v1\/(stream|message\/ws)\?\S* 426$/;

for (const [name, [version, convert]] of Object.entries(CONVERTERS))
  test.skipIf(!IS_SOAK)(
    `every request that ${name} ${version} makes of the document is accepted`,
    async ({ onTestFinished, skip }) => {
      const folder = fetchedPackage(name, version);
      if (folder === undefined) return skip(`npm cannot fetch ${name} ${version}`);
      const text = await (await fetch(`${await serveExamples(onTestFinished)}/openapi.json`)).text();
      const made = await convert(folder, text);
      const answers: string[] = [];
      for (const { method, url, headers } of made) {
        const { status, body } = await fetch(url, { method, headers: headers.map(([...pair]) => pair) });
        await body?.cancel();
        answers.push(`${method} ${url} ${status}`);
      }
      expect(answers.filter((answer) => !EXPECTED.test(answer))).toEqual([]);
      expect(answers.length).toBeGreaterThan(60);
    },
  );

/** By package: its version, its arguments, and the file that it writes. */
const GENERATORS: Readonly<
  Record<string, readonly [version: string, args: (input: string) => readonly string[], file: string]>
> = {
  "openapi-typescript": ["7.13.0", (input) => [input, "-o", "api.ts"], "api.ts"],
  orval: ["8.38.0", (input) => ["--input", input, "--output", "api.ts", "--client", "fetch"], "api.ts"],
  "@hey-api/openapi-ts": ["0.99.0", (input) => ["-i", input, "-o", "api"], "api/index.ts"],
};

function newProject(finish: Finish): string {
  const folder = mkdtempSync(join(tmpdir(), "flarewire-tools-"));
  finish(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, "package.json"), '{"private":true,"type":"module"}');
  return folder;
}

for (const [name, [version, argsOf, file]] of Object.entries(GENERATORS))
  test.skipIf(!IS_SOAK)(
    `${name} ${version} makes code of the document that the compiler accepts`,
    async ({ onTestFinished, skip }) => {
      const folder = fetchedPackage(name, version, PEERS);
      if (folder === undefined) return skip(`npm cannot fetch ${name} ${version}`);
      const cwd = newProject(onTestFinished);
      const input = join(cwd, "openapi.json");
      writeFileSync(input, await (await fetch(`${await serveExamples(onTestFinished)}/openapi.json`)).text());
      const { bin } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
      const program = join(folder, typeof bin === "string" ? bin : (Object.values<string>(bin)[0] ?? ""));
      await run(process.execPath, [program, ...argsOf(input)], { cwd });
      const strict = [
        "--ignoreConfig",
        "--strict",
        "--noEmit",
        "--types",
        "",
        "--lib",
        "es2022,dom,dom.iterable",
      ];
      const modules = ["--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler"];
      const checked = await run(TSC, [file, ...strict, ...modules], { cwd }).catch((error: object) => error);
      expect(checked).toMatchObject({ stdout: "" });
      expect(readFileSync(join(cwd, file), "utf8")).toContain("export ");
    },
  );
