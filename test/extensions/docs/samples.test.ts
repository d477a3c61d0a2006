import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { formatKeys, mintSecret } from "../../../src/gateway/keys/index.ts";
import { createConfig, startGateway } from "../../../src/index.ts";
import { ToldMarket } from "../../browser/told-market.ts";
import { type Finish, newDirectory } from "../../support/servers/edges.ts";
import { SAMPLE_SNAPSHOT } from "../../support/world/samples.ts";

/** Starts a gateway with a key of the plan, or an open one. */
async function serve(finish: Finish, access: "open" | "free" | "off", plan: "free" | "pro" = "pro") {
  const file = join(newDirectory(finish), "keys.json");
  const { id, digest, text: key } = mintSecret("fw");
  writeFileSync(file, formatKeys([{ id, sha256: digest.toString("hex"), plan }]), { mode: 0o600 });
  const keyed = access === "open" ? {} : { keys: file, anonymous: access };
  const config = createConfig({ port: 0, drain: "0", logLevel: "silent", data: "none", ...keyed });
  const gateway = await startGateway(config, { source: new ToldMarket(SAMPLE_SNAPSHOT) });
  finish(() => gateway.stop());
  return { url: gateway.url, key };
}

const decoded = (text: string) =>
  text.replaceAll("&#39;", "'").replaceAll("&quot;", '"').replaceAll("&gt;", ">").replaceAll("&amp;", "&");

/** Returns the first samples of a page, in the order curl, TypeScript, Python. */
async function samplesOf(url: string, page: string) {
  const text = await (await fetch(`${url}${page}`)).text();
  const [first = ""] = /<div class="tabs"[\s\S]*?<\/div>/.exec(text) ?? [];
  return [...first.matchAll(/<pre class="sample own"[^>]*>([\s\S]*?)<\/pre>/g)].map(([, one = ""]) =>
    decoded(one),
  );
}

/** Sends the request of the page's first sample. Returns the status. */
async function statusOf(url: string, page: string, key: string): Promise<number> {
  const [curl = ""] = await samplesOf(url, page);
  const address = /'(http:\/\/127\.0\.0\.1:8080[^']*)'/.exec(curl)?.[1] ?? "";
  const { pathname, search } = new URL(address);
  const left = new AbortController();
  const { status } = await fetch(`${url}${pathname}${search}`, {
    method: curl.includes("-X POST") ? "POST" : "GET",
    headers: {
      ...(curl.includes("text/event-stream") ? { accept: "text/event-stream" } : {}),
      ...(curl.includes("Bearer KEY") ? { authorization: `Bearer ${key}` } : {}),
    },
    signal: left.signal,
  });
  left.abort();
  return status;
}

/** Returns the pages with samples. */
async function pagesOf(url: string): Promise<readonly string[]> {
  const overview = await (await fetch(`${url}/docs`)).text();
  const pages = [...overview.matchAll(/href="(\/docs\/rest\/[^"#]+)"/g)].map(([, page = ""]) => page);
  expect(pages.length).toBeGreaterThan(10);
  return ["/docs", ...new Set(pages)];
}

for (const [access, what, list, hasKey] of [
  ["open", "without keys", "flares.pro", false],
  ["free", "whose visitors have the plan free", "flares.free", false],
  ["off", "that requires a key", "flares.pro", true],
] as const) {
  test(`on a server ${what}, the samples of each page work for a visitor who copies them`, async ({
    onTestFinished,
  }) => {
    const { url, key } = await serve(onTestFinished, access);
    for (const sample of await samplesOf(url, "/docs"))
      expect([sample.includes(list), sample.includes("KEY")]).toEqual([true, hasKey]);
    const refused: unknown[] = [];
    for (const page of await pagesOf(url)) {
      const status = await statusOf(url, page, key);
      if (status === 401 || status === 403) refused.push([page, status]);
    }
    expect(refused).toEqual([]);
  });
}

for (const access of ["free", "off"] as const)
  test(`with a key of the plan free, where visitors have ${access === "free" ? "that plan" : "none"}, each page says which samples need another plan, and which a key`, async ({
    onTestFinished,
  }) => {
    const { url, key } = await serve(onTestFinished, access, "free");
    let refused = 0;
    for (const page of await pagesOf(url)) {
      const text = await (await fetch(`${url}${page}`)).text();
      const isRefused = (await statusOf(url, page, key)) === 403;
      if (isRefused) refused += 1;
      const samples = await samplesOf(url, page);
      expect([page, /the plan <code>(pro|free)<\/code>/.test(text)]).toEqual([
        page,
        isRefused || /[/](docs|get-stream|get-events|get-producer)$/.test(page),
      ]);
      expect([page, text.includes("Replace <code>KEY</code>")]).toEqual([
        page,
        samples.join().includes("KEY"),
      ]);
    }
    expect(refused).toBeGreaterThan(0);
  });
