import { PAGES, type Route } from "../../../src/clients/dashboard/route.ts";

/** Color schemes and screen sizes. */
export const LOOKS = {
  light: { colorScheme: "light", viewport: { width: 1_440, height: 900 } },
  dark: { colorScheme: "dark", viewport: { width: 1_440, height: 900 } },
  "phone-light": { colorScheme: "light", viewport: { width: 390, height: 844 } },
  "phone-dark": { colorScheme: "dark", viewport: { width: 390, height: 844 } },
} as const;
export type Look = keyof typeof LOOKS;

/** A page: its address, and the content to wait for. */
export interface ShownPage {
  readonly name: string;
  /** Relative to the server; `TOKEN` is replaced by the address of a flaring token. */
  readonly address: string;
  readonly ready: string;
}

const READY: Readonly<Record<Route["page"], string>> = {
  // Few flaring tokens are in the chart too, so do not wait for one.
  now: ".flares .price-line",
  finished: ".finished tbody tr:nth-child(9)",
  markets: ".strongest tbody tr:nth-child(12)",
  // As many as fit on a screen.
  feed: ".events tbody tr:nth-child(20)",
  developers: ".developers pre",
  record: '.record[aria-busy="false"]',
  token: ".token-chart",
};

const dashboard = ([...PAGES, "token"] as const).map((name) => ({
  name,
  address: `#/${name === "token" ? "token/TOKEN" : name}`,
  ready: READY[name],
}));

/** All pages. */
export const SHOWN_PAGES: readonly ShownPage[] = [
  ...dashboard,
  { name: "widgets", address: "widgets", ready: 'flare-list[state="live"]' },
  { name: "docs", address: "docs", ready: "h1" },
  { name: "docs-events", address: "docs/events", ready: "h1" },
  { name: "docs-protocol", address: "docs/protocol", ready: "h1" },
];

/** The pictures that are stored for the documents, by page. */
export const KEPT: Readonly<Record<string, readonly Look[]>> = {
  now: ["light", "dark", "phone-light", "phone-dark"],
  token: ["light", "dark", "phone-light", "phone-dark"],
  markets: ["light", "dark"],
};

/** Returns the file name of a picture. */
export function fileOf(page: string, look: Look): string {
  return `${page}-${look}.png`;
}
