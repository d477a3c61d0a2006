import { expect, test } from "vitest";
import { TrendEngine } from "../../../src/engine/index.ts";
import { address, drive, listing, profile, START, trade, withClocks } from "../trend-kit.ts";

test("a profile's link that is not http or https is served as null, everything else unchanged", () => {
  const bad = "javascript:alert(1)";
  const [token, other] = [address(1), address(2)];
  const post = { position: 1, address: token, title: "t", upvotes: 3, posted: START };
  const facts = {
    marketData: { market_id: "m", image_url: "data:text/html,x", name: "M" },
    socialData: { chat_url: bad, microblog_url: "https://x.example/a", website_url: " javascript:alert(2)" },
    forumPost: { ...post, url: bad },
  };
  const valid = { forumPost: { ...post, url: "https://forum.example/t/1" } };
  const events = [
    ...[profile(START, token, facts), profile(START, other, valid)],
    ...[listing(START, token), listing(START, other)],
    ...Array.from({ length: 10 }, (_, n) => [
      trade(START + n * 60_000 + 1, token),
      trade(START + n * 60_000 + 2, other),
    ]).flat(),
  ];
  const snapshot = drive(new TrendEngine(), withClocks(events, START + 660_000));
  const shown = new Map(snapshot.charts.bsc.map(({ flare }) => [flare.token.address, flare]));
  expect(JSON.stringify(snapshot)).not.toMatch(/javascript:|data:text/);
  expect(shown.get(token)).toMatchObject({
    market_data: { market_id: "m", image_url: null, name: "M" },
    social_data: { chat_url: null, microblog_url: "https://x.example/a", website_url: null },
    forum_post: null,
  });
  expect(shown.get(other)?.forum_post?.url).toBe("https://forum.example/t/1");
  expect(snapshot.newest.bsc.find((one) => one.token.address === token)?.social_data?.chat_url).toBeNull();
});
