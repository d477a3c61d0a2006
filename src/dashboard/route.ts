/** The page to show, from the part of the address after `#`. */
export type Route =
  | { readonly page: "flares" | "newest" | "charts" | "leaderboards" | "events" }
  | { readonly page: "token"; readonly address: string };

export const PAGES = ["flares", "newest", "charts", "leaderboards", "events"] as const;

/** Parses `#/charts`. Defaults to the first page. */
export function readRoute(hash: string): Route {
  const [page = "", address = ""] = hash.replace(/^#\/?/, "").split("/");
  if (page === "token" && address !== "") return { page, address: decode(address).toLowerCase() };
  return { page: PAGES.find((name) => name === page) ?? "flares" };
}

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
