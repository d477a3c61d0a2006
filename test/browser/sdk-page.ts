import type { Page } from "playwright-core";
import type { Snapshot } from "../../src/base/model/index.ts";
import { CHANNELS } from "../../src/base/protocol/index.ts";
import type * as Sdk from "../../src/clients/sdk/index.ts";
import { bundleClient, bundleStreamGroup } from "../clients/sdk/bundle.ts";
import type { Member, StreamGroup, startGroup } from "../clients/sdk/stream-group.ts";
import { shownLists } from "../support/expect/shown-lists.ts";
import { servePage as serveScripts } from "../support/servers/serve-page.ts";

/** The page's record of its stream. */
interface PageRecord {
  readonly stream: Sdk.Stream;
  readonly seqs: number[];
  readonly resets: string[];
  /** The lists after each event, by cursor. */
  readonly views: Record<string, unknown>;
}

declare global {
  var sdk: typeof Sdk;
  var kept: PageRecord;
  var startStreams: typeof startGroup;
  var group: StreamGroup;
}

const PAGE = `<!doctype html><title>a page</title><script type="module">
import * as sdk from "/sdk.js";
import { startGroup } from "/group.js";
Object.assign(globalThis, { startStreams: startGroup, sdk });
</script>`;

/** A web server with its own origin, whose page has the SDK as `sdk`. */
export async function servePage(): Promise<AsyncDisposable & { readonly url: string }> {
  const scripts = new Map([
    ["/sdk.js", await bundleClient()],
    ["/group.js", await bundleStreamGroup()],
  ]);
  return serveScripts(PAGE, scripts);
}

/** Follows a server in the page, recorded as `kept`. */
export async function followIn(
  page: Page,
  url: string,
  options: Omit<Sdk.ConnectOptions, "platform" | "signal"> = {},
): Promise<void> {
  await page.waitForFunction(() => globalThis.sdk !== undefined);
  await page.evaluate(
    ([address, given]) => {
      const stream = sdk.connect(address, given);
      globalThis.kept = { stream, seqs: [], resets: [], views: {} };
      stream.on("event", ({ seq, cursor }) => {
        kept.seqs.push(seq);
        kept.views[cursor] = stream.view;
      });
      stream.on("reset", ({ reason, cursor, view }) => {
        kept.resets.push(reason);
        kept.views[cursor] = view;
      });
    },
    // All channels, so that the seqs have no gaps.
    [url, { channels: CHANNELS, ...options }] as const,
  );
}

/** Starts these streams in the page. */
export async function startGroupIn(
  page: Page,
  members: readonly Member[],
  haste: number,
  seed: number,
): Promise<StreamGroup> {
  await page.waitForFunction(() => globalThis.sdk !== undefined);
  await page.evaluate(
    ([given, factor, number]) => {
      globalThis.group = startStreams(sdk.connect, given, factor, number);
    },
    [members, haste, seed] as const,
  );
  return {
    reach: (seq) => page.evaluate((at) => group.reach(at), seq),
    note: () => page.evaluate(() => group.note()),
    viewsAt: (seq) => page.evaluate((at) => group.viewsAt(at), seq),
    report: () => page.evaluate(() => group.report()),
    close: () => page.evaluate(() => group.close()),
  };
}

/** Returns the lists of `/snapshot` in the page at this cursor, once it has arrived there. */
export async function viewAt(page: Page, cursor: string): Promise<unknown> {
  const seq = Number(cursor.split("-")[1]);
  await page.waitForFunction((least) => Number(kept.stream.cursor?.split("-")[1]) >= least, seq, {
    polling: 20,
  });
  return shownLists((await page.evaluate((at) => kept.views[at], cursor)) as Snapshot);
}

/** Waits for this many further events. */
export async function moreEvents(page: Page, count: number): Promise<void> {
  const target = (await page.evaluate(() => kept.seqs.length)) + count;
  await page.waitForFunction((least) => kept.seqs.length >= least, target, { polling: 20 });
}
