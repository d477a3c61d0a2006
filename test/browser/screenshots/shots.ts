import { PAGES, type Route } from "../../../src/dashboard/route.ts";

/** Colours and sizes in which each page is looked at. */
export const LOOKS = {
  light: { colorScheme: "light", viewport: { width: 1_120, height: 720 } },
  dark: { colorScheme: "dark", viewport: { width: 1_120, height: 720 } },
  "phone-light": { colorScheme: "light", viewport: { width: 390, height: 780 } },
  "phone-dark": { colorScheme: "dark", viewport: { width: 390, height: 780 } },
} as const;
export type Look = keyof typeof LOOKS;

/** What the program shows: where it is, and what has to be there before it is taken. */
export interface ShownPage {
  readonly name: string;
  /** Behind the server's address; `TOKEN` stands for that of a token that flares. */
  readonly address: string;
  readonly ready: string;
}

const READY: Readonly<Record<Route["page"], string>> = {
  // Few tokens that flare are on the chart too: a picture must not wait for one.
  flares: ".flares tbody tr",
  newest: ".newest tbody tr",
  charts: "section:nth-child(4) .ranks li",
  leaderboards: "section:nth-child(4) .ranks li",
  // As many as fit onto a screen.
  events: ".events li:nth-child(24)",
  token: ".plot canvas",
};

const dashboard = ([...PAGES, "token"] as const).map((name) => ({
  name,
  address: `#/${name === "token" ? "token/TOKEN" : name}`,
  ready: READY[name],
}));

/** Every page that people look at. */
export const SHOWN_PAGES: readonly ShownPage[] = [
  ...dashboard,
  { name: "widgets", address: "widgets", ready: 'flare-list[state="live"]' },
  { name: "docs", address: "docs", ready: "h1" },
  { name: "docs-events", address: "docs/events", ready: "h1" },
  { name: "docs-protocol", address: "docs/protocol", ready: "h1" },
];

/** Those that the project keeps, for its documents: by page the looks. */
export const KEPT: Readonly<Record<string, readonly Look[]>> = {
  flares: ["light", "dark", "phone-light", "phone-dark"],
  token: ["light", "dark", "phone-light", "phone-dark"],
  charts: ["light", "dark"],
};

/** The name of a picture's file. */
export function fileOf(page: string, look: Look): string {
  return `${page}-${look}.png`;
}
