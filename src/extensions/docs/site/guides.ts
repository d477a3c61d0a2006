import { DOCUMENTS } from "./documents.ts";

/** The protocol specification, which has its own path. */
export const PROTOCOL_FILE = "src/base/protocol/PROTOCOL.md";

interface Guide {
  /** Address of the page below the base path. */
  readonly path: string;
  /** The document, from the root of the repository or of the installed package. */
  readonly file: string;
  readonly title: string;
  readonly summary: string;
}

/** Lessons that a test works through as a reader does. */
export const TUTORIALS: readonly Guide[] = [
  guide("first-bot", "examples/FIRST-BOT.md", "Your first bot", "Subscribe, resume, miss nothing."),
  guide("worth-it", "examples/WORTH-IT.md", "Is it worth it?", "The record, the odds, a backtest."),
  guide("deploy", "examples/DEPLOY.md", "Deploy", "A unit, keys, nginx, backup, upgrade."),
];

/** Every guide, in the order of the index at `/docs/guides`. */
export const GUIDES: readonly Guide[] = [
  guide("flares", "src/engine/README.md", "What a flare is", "The detector, fields, units, quality."),
  guide("client", "src/clients/sdk/README.md", "Clients", "The SDK, tail and top, WebSocket, SSE, REST."),
  guide("python", "src/clients/python/README.md", "Python", "The package for Python: asyncio, typed."),
  guide("dashboard", "src/clients/dashboard/README.md", "Dashboard", "The page at / of a server."),
  guide("widget", "src/clients/widget/README.md", "Widgets", "Elements for your own page."),
  guide("examples", "examples/README.md", "Examples", "Bots and integrations to copy."),
  guide("skill", "examples/SKILL.md", "Bots by coding agents", "What an agent needs to write a bot."),
  guide("integrations", "examples/integrations/README.md", "Integrations", "freqtrade, Node-RED, n8n."),
  guide("live", "src/feeds/LIVE.md", "Live markets", "Chains, exchanges, facts about tokens, costs."),
  guide("chains", "src/feeds/CHAINS.md", "Trades on chains", "Trades, blocks, dollars, liquidity."),
  guide("recordings", "src/feeds/RECORDING.md", "Recordings", "Record a market, replay a file, the formats."),
  guide("operating", "src/gateway/OPERATING.md", "Operating", "Start, proxy, limits, keys, metrics."),
  guide("scaling", "src/scale/SCALING.md", "Scaling", "Edges and clusters."),
  guide("settings", "src/app/config/SETTINGS.md", "Settings", "Every flag, variable and key of the file."),
  guide("alerts", "src/extensions/alerts/ALERTS.md", "Alerts", "Webhooks, chats, MQTT, browsers."),
  guide("keys", "src/base/protocol/KEYS.md", "Keys and tokens", "Plans, tickets, limits; normative."),
  guide("codes", "src/base/protocol/CODES.md", "Codes", "Close codes, errors, connections on the wire."),
  guide("security", "src/app/release/SECURITY.md", "Security", "Reports, threats and defenses."),
  guide("stability", "src/app/release/STABILITY.md", "Stability", "What is stable, and how it changes."),
  guide("changelog", "src/app/release/CHANGELOG.md", "Changelog", "What changed, by version."),
  guide("source", "src/README.md", "Source tree", "Parts, dependency rules, laws, how to extend it."),
];

/** Address of a page's text as Markdown. */
export function markdownPath(page: string): string {
  return `${page}.md`;
}

/** Every document of the repository that the server shows as a page. */
export const TEXTS: readonly Guide[] = [
  {
    path: DOCUMENTS.docsProtocol.path,
    file: PROTOCOL_FILE,
    title: "Protocol",
    summary: "Every message, normative.",
  },
  ...TUTORIALS,
  ...GUIDES,
];

/** Returns the URL of a link in `file`; `undefined` if the server does not show the document. */
export function guideHref(
  basePath: string,
  file: string,
  link: string,
  addressOf: (page: string) => string = (page) => page,
): string | undefined {
  const target = new URL(link, `file:///${file}`);
  const found = TEXTS.find((one) => one.file === target.pathname.slice(1));
  return found === undefined ? undefined : `${basePath}${addressOf(found.path)}${target.hash}`;
}

function guide(name: string, file: string, title: string, summary: string): Guide {
  return { path: `/docs/${name}`, file, title, summary };
}
