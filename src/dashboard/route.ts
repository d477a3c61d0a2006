/** What the page shows, as its address says after `#`. */
export type Route =
  | { readonly page: "flares" | "newest" | "charts" | "leaderboards" | "events" }
  | { readonly page: "token"; readonly address: string };

/** The pages that the navigation leads to, in its order. */
export const PAGES = ["flares", "newest", "charts", "leaderboards", "events"] as const;

/** Reads `#/charts`; what names no page is the first. */
export function readRoute(hash: string): Route {
  const [page = "", address = ""] = hash.replace(/^#\/?/, "").split("/");
  if (page === "token" && address !== "") return { page, address: decode(address).toLowerCase() };
  return { page: PAGES.find((name) => name === page) ?? "flares" };
}

/** The address of a token's page. */
export function tokenHash(address: string): string {
  return `#/token/${encodeURIComponent(address.toLowerCase())}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
