import { describe, expect } from "vitest";
import { InputError } from "../../../src/base/lib/input-error.ts";
import { MarketEvent } from "../../../src/base/market/index.ts";
import { GROUPS } from "../../../src/base/model/index.ts";
import { addressOf } from "../../../src/feeds/replay/pair-registry.ts";
import { readProfiles } from "../../../src/feeds/replay/read/profiles-file.ts";
import { ReplayFeed } from "../../../src/feeds/replay/replay-feed.ts";
import { HEADER, LeapingClock, line, only, replay, T0, test } from "./replay-kit.ts";

const POST = {
  position: 1,
  url: "https://example.org/p",
  title: "t",
  upvotes: 3,
  posted: "2017-11-11T10:00:00.000Z",
};
const json = (tokens: object) => JSON.stringify({ tokens });

describe("tokens of pairs", () => {
  test("on the exchange a pair is its own token", async ({ write }) => {
    const { events } = await replay(write([HEADER, line(0, "BTC_XRP"), line(1, "BTC_XRP")]));
    expect(events.slice(0, 2)).toEqual([
      {
        kind: "profile",
        at: T0 + 60_000,
        group: "exchange",
        token: "BTC_XRP",
        symbol: "BTC_XRP",
        name: "BTC_XRP",
      },
      expect.objectContaining({
        kind: "candle",
        group: "exchange",
        token: "BTC_XRP",
        close: "1.5",
        volume: "10",
      }),
    ]);
    expect(only("profile", events).length).toBe(1);
  });

  test("in a chain group a pair gets an address derived from its name, and the name as symbol", async ({
    write,
  }) => {
    const { events } = await replay(write([line(0, "BTC_BCC")]), { group: "bsc" });
    const [profile] = only("profile", events);
    expect(profile).toMatchObject({ group: "bsc", symbol: "BTC_BCC", token: addressOf("bsc", "BTC_BCC") });
    // printf flarewire:bsc:BTC_BCC | sha256sum
    expect(profile?.token).toBe("0x3649601a0e79c3083563ce9c684c94e8520fda0a");
    expect(addressOf("matic", "BTC_BCC")).not.toBe(profile?.token);
    expect(addressOf("avalanche", "BTC_BCC")).toMatch(/^0x[0-9a-f]{40}$/);
  });
});

describe("profiles", () => {
  test("a profile gives a pair its groups and facts; a pair without one takes the replay's group", async ({
    write,
  }) => {
    const profilesPath = write(
      json({
        A: {
          group: ["bsc", "exchange", "bsc"],
          name: "Alpha",
          market_data: { market_id: "alpha", image_url: null, name: null },
          social_data: null,
          contract_source: "verified",
          created_at: "2017-01-01T01:00:00+01:00",
          quote: false,
          forum_post: POST,
        },
        B: { group: "avalanche", symbol: "BB" },
      }),
    );
    const { events, skipped } = await replay(write([line(0, "A"), line(0, "B"), line(0, "C")]), {
      group: "matic",
      profilesPath,
    });
    expect(only("candle", events).map(({ group }) => group)).toEqual([
      "bsc",
      "exchange",
      "avalanche",
      "matic",
    ]);
    const facts = {
      kind: "profile",
      at: T0 + 60_000,
      symbol: "A",
      name: "Alpha",
      marketData: { market_id: "alpha", image_url: null, name: null },
      socialData: null,
      contractSource: "verified",
      createdAt: Date.UTC(2017, 0, 1),
      quote: false,
    };
    const address = addressOf("bsc", "A");
    const forumPost = { ...POST, posted: Date.UTC(2017, 10, 11, 10), address };
    expect(only("profile", events)).toEqual([
      { ...facts, group: "bsc", token: address, forumPost },
      { ...facts, group: "exchange", token: "A" },
      {
        kind: "profile",
        at: T0 + 60_000,
        group: "avalanche",
        token: addressOf("avalanche", "B"),
        symbol: "BB",
        name: "B",
      },
      {
        kind: "profile",
        at: T0 + 60_000,
        group: "matic",
        token: addressOf("matic", "C"),
        symbol: "C",
        name: "C",
      },
    ]);
    for (const event of events) expect(MarketEvent.parse(event)).toEqual(event);
    expect(skipped).toEqual([]);
  });

  test("a profile of a pair that the recording does not contain is reported, not fatal", async ({
    write,
  }) => {
    const { skipped, error } = await replay(write([line(0, "A")]), {
      profilesPath: write(json({ A: {}, Z: {}, __proto__x: {} })),
    });
    expect(error).toBeUndefined();
    expect(skipped).toEqual([
      ["profile-unused", 0, 'no line contains the token "Z"'],
      ["profile-unused", 0, 'no line contains the token "__proto__x"'],
    ]);
  });

  test("in an event recording a profile follows the recorded one and precedes its token's other events", async ({
    write,
  }) => {
    const trade = {
      kind: "trade",
      at: T0,
      pool: "p",
      token: "t",
      side: "buy",
      price: "1",
      amount: "1",
      quoteUsd: "1",
      trader: "w",
    };
    const lines = [
      { kind: "profile", at: T0, group: "bsc", token: "t", name: "recorded" },
      { ...trade, group: "bsc" },
      { ...trade, group: "matic" },
      { ...trade, group: "bsc" },
    ].map((event) => JSON.stringify(event));
    const profilesPath = write(json({ t: { group: "bsc", name: "beside" } }));
    const { events, skipped } = await replay(write(lines), { profilesPath });
    expect(events.map((event) => [event.kind, event.kind === "profile" ? event.name : ""])).toEqual([
      ["profile", "recorded"],
      ["profile", "beside"],
      ["trade", ""],
      ["trade", ""],
      ["trade", ""],
      ["clock", ""],
    ]);
    expect(skipped).toEqual([]);
  });

  test.for([
    [
      json({ A: { group: "sui" } }),
      `tokens.A.group: must be one of ${GROUPS.join(", ")}, or a list of these`,
    ],
    [json({ A: { group: [] } }), "tokens.A.group: "],
    [json({ A: { symbl: "x" } }), 'tokens.A: unknown key "symbl"'],
    [json({ A: { contract_source: "yes" } }), "tokens.A.contract_source: must be verified or unverified"],
    [json({ A: { market_data: { market_id: "a" } } }), "tokens.A.market_data.image_url: "],
    [json({ A: { created_at: "yesterday" } }), "tokens.A.created_at: must be an ISO 8601 time"],
    [json({ A: { created_at: "1969-01-01T00:00:00Z" } }), "tokens.A.created_at: must not be before 1970"],
    [json({ A: { forum_post: { ...POST, address: "0xzz" } } }), "tokens.A.forum_post.address: must be 0x"],
    ['{"tokens":', "the profiles file is not JSON: "],
    ["{}", "tokens: "],
    ["[]", "the file: "],
  ] as const)("%s is refused with the token and the field", ([content, part], { expect, write }) => {
    const path = write(content);
    expect(() => readProfiles(path)).toThrow(InputError);
    expect(() => readProfiles(path)).toThrow(`${path}: ${part}`);
  });

  test("only a few of many problems are reported; a missing file is named", ({ write }) => {
    const bad = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`P${index}`, { quote: 1 }]));
    expect(() => readProfiles(write(json(bad)))).toThrow(/tokens\.P4\.quote: .*; and 4 more$/);
    const path = write([line(0)]);
    expect(() => new ReplayFeed({ path, profilesPath: `${path}.json`, clock: new LeapingClock() })).toThrow(
      `${path}.json: cannot read the profiles file: ENOENT`,
    );
  });
});
