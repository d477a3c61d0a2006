import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { EnricherName } from "../../../src/feeds/enrich/enricher.ts";
import { type Mischief, misbehave } from "../exchange/mischief.ts";

/** Addresses that the services know, and one that none does. */
export const KNOWN = `0x${"aB".repeat(20)}`;
export const SHADY = `0x${"5d".repeat(20)}`;
export const STRANGER = `0x${"00".repeat(19)}01`;
export const KEY = "SECRETKEY123";
export const COIN_KEY = "CG-SECRETKEY456";

/** Etherscan's response to a free key, for BSC and Avalanche. */
export const FREE_KEY =
  "Free API access is not supported for this chain. Please upgrade your api plan for full chain coverage. https://etherscan.io/apis";

/** The four services in one server on loopback, with their response shapes. They can misbehave. */
export class StandInServices implements AsyncDisposable {
  readonly mischief = new Map<EnricherName, Mischief | "notok" | "bad key" | "free key">();
  readonly asked: { readonly name: EnricherName; readonly path: string; readonly key?: unknown }[] = [];
  isListed = true;
  /** Additional entries of CoinGecko's list. */
  coins: readonly object[] = [];
  /** DexScreener's pairs of KNOWN: with links, without, none, or only in a request for it alone. */
  links: "given" | "removed" | "unlisted" | "crowded out" = "given";
  readonly #server = createServer((request, response) => {
    const path = request.url ?? "";
    const name = nameOf(path);
    this.asked.push({ name, path, key: request.headers["x-cg-demo-api-key"] });
    const mischief = this.mischief.get(name);
    if (mischief === "notok")
      reply(response, 200, { status: "0", message: "NOTOK", result: "Max rate limit reached" });
    else if (mischief === "bad key")
      reply(response, 200, { status: "0", message: "NOTOK", result: `Invalid API Key (#err2)|${KEY}` });
    else if (mischief !== undefined && mischief !== "free key") misbehave(mischief, response);
    else if (mischief === "free key" && !path.includes("chainid=137"))
      reply(response, 200, { status: "0", message: "NOTOK", result: FREE_KEY });
    else this.#answer(name, path, response);
  });

  async listen(): Promise<this> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return this;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get urls(): Readonly<Record<EnricherName, string>> {
    const { url } = this;
    return {
      coingecko: url,
      sourcify: url,
      etherscan: url,
      dexscreener: url,
    };
  }

  count(name: EnricherName): number {
    return this.asked.filter((one) => one.name === name).length;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #answer(name: EnricherName, path: string, response: ServerResponse): unknown {
    const { searchParams, pathname } = new URL(path, this.url);
    const lower = path.toLowerCase();
    switch (name) {
      case "coingecko":
        return reply(response, 200, [
          { id: "bitcoin", symbol: "btc", name: "Bitcoin", platforms: {} },
          {
            id: "other-coin",
            symbol: "oth",
            name: "Other",
            platforms: { "binance-smart-chain": `0x${"0d".repeat(20)}` },
          },
          ...this.coins,
          ...(this.isListed
            ? [
                {
                  id: "known-coin",
                  symbol: "kno",
                  name: "Known",
                  platforms: { "binance-smart-chain": KNOWN.toLowerCase(), solana: "x" },
                },
              ]
            : []),
        ]);
      case "sourcify":
        return lower.includes(KNOWN.toLowerCase())
          ? reply(response, 200, {
              match: "exact_match",
              creationMatch: null,
              runtimeMatch: "match",
              chainId: "56",
              address: KNOWN,
            })
          : reply(response, 404, { match: null, chainId: "56", address: pathname.split("/").at(-1) });
      case "etherscan": {
        if (searchParams.get("apikey") !== KEY)
          return reply(response, 200, { status: "0", message: "NOTOK", result: "Invalid API Key" });
        const isVerified =
          searchParams.get("address")?.toLowerCase() !== SHADY.toLowerCase() &&
          !lower.includes(KNOWN.toLowerCase());
        const ABI = isVerified ? '[{"type":"function"}]' : "Contract source code not verified";
        return reply(response, 200, {
          status: "1",
          message: "OK",
          result: [{ SourceCode: "", ABI, ContractName: "", Proxy: "0" }],
        });
      }
      case "dexscreener":
        return reply(
          response,
          200,
          lower.includes(KNOWN.toLowerCase()) &&
            this.links !== "unlisted" &&
            !(this.links === "crowded out" && lower.includes(","))
            ? [
                {
                  chainId: "bsc",
                  dexId: "pancakeswap",
                  baseToken: { address: KNOWN, name: "Known", symbol: "KNO" },
                  info:
                    this.links === "removed"
                      ? undefined
                      : {
                          websites: [{ label: "Website", url: "https://known.example" }],
                          socials: [
                            { type: "twitter", url: "https://x.com/known" },
                            { type: "telegram", url: "javascript:alert(1)" },
                            { type: "discord", url: "https://discord.gg/known" },
                          ],
                        },
                },
              ]
            : [],
        );
    }
  }
}

function reply(response: ServerResponse, status: number, body: unknown): unknown {
  return response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function nameOf(path: string): EnricherName {
  if (path.startsWith("/api/v3")) return "coingecko";
  if (path.startsWith("/v2/contract")) return "sourcify";
  if (path.startsWith("/v2/api")) return "etherscan";
  return "dexscreener";
}
