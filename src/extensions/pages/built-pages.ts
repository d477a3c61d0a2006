import { readdirSync, readFileSync } from "node:fs";
import { extname } from "node:path";
import type { Snapshot, TokenDetails } from "../../base/model/index.ts";
import type { SourceInfo } from "../../base/protocol/index.ts";
import { Representation, versionOf } from "../../gateway/http/index.ts";

const TYPES: Readonly<Record<string, string>> = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".png": "image/png",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".svg": "image/svg+xml; charset=utf-8",
};

/**
 * Reads the built files of known types, by path relative to the part's directory. Empty if they
 * were not built.
 */
export function readBuilt(part: "dashboard" | "widget"): ReadonlyMap<string, Representation> {
  // The same path from src/extensions/pages and from dist/http/pages.
  const directory = new URL(`../../../dist/${part}/`, import.meta.url);
  let names: readonly string[];
  try {
    names = readdirSync(directory, { recursive: true, encoding: "utf8" });
  } catch {
    return new Map();
  }
  return new Map(names.flatMap((name) => readPage(directory, name)));
}

function readPage(directory: URL, name: string): readonly (readonly [string, Representation])[] {
  const type = TYPES[extname(name)];
  if (type === undefined) return [];
  const bytes = readFileSync(new URL(name, directory));
  return [[name.replaceAll("\\", "/"), new Representation(bytes, versionOf(bytes), type)]];
}

interface MarketKind {
  readonly origin: string;
  readonly facts: readonly string[];
}

/** Renders a token's page as the dashboard does. */
export interface PageRenderer {
  /** `nowMs`: event time; `root`: relative URL of the server's root. Returns markup. */
  renderTokenPage(page: {
    readonly details: TokenDetails;
    readonly flareId?: string | undefined;
    readonly nowMs: number;
    readonly root: string;
    readonly market: string | undefined;
    readonly kind: MarketKind;
  }): string;
  /** Renders what flares now on the first page of the dashboard. `nowMs`: event time. */
  renderFirst(page: {
    readonly lists: Pick<Snapshot, "flares" | "explanations" | "outcomes">;
    readonly channel: "flares.pro" | "flares.free";
    readonly nowMs: number;
    readonly kind: MarketKind;
  }): string;
}

/** Loads the built renderer. Rejects if it was not built. */
export async function loadRenderer(): Promise<PageRenderer> {
  const file = new URL("../../../dist/page/render.js", import.meta.url);
  return (await import(file.href)) as PageRenderer;
}

/** Returns what the renderer needs to know of the market. */
export function kindOf({ origin, facts }: SourceInfo): MarketKind {
  return { origin, facts: Object.entries(facts).flatMap(([fact, isKnown]) => (isKnown ? [fact] : [])) };
}
