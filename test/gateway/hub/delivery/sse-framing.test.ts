import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { CloseMessage, ServerMessage } from "../../../../src/base/protocol/index.ts";
import { sseFraming } from "../../../../src/gateway/hub/index.ts";

const DOCUMENT = readFileSync(new URL("../../../../src/base/protocol/PROTOCOL.md", import.meta.url), "utf8");

const framed = (message: object) => sseFraming.message(JSON.stringify(message)).toString();

test("[S3] [S5] a message's type and cursor become event and id; with a loss, the event is reset", () => {
  const answer = { type: "subscribed", id: "url", channels: [], cursor: "k3f9-7", resumed: "reset" };
  const snapshot = { explanations: { cursor: "k3f9-1", lost: '"lost":' } };
  expect(framed({ ...answer, snapshot })).toBe(
    `event: subscribed\nid: k3f9-7\ndata: ${JSON.stringify({ ...answer, snapshot })}\n\n`,
  );
  const lost = { reason: "expired", events: 3 };
  expect(framed({ ...answer, lost, snapshot })).toMatch(/^event: reset\nid: k3f9-7\ndata: /);
  expect(framed({ type: "hello", cursor: "k3f9-9" })).toMatch(/^event: hello\ndata: /);
});

test("[S3] the events of a batch are joined, with non-ASCII text intact", () => {
  const encoded = Buffer.from('"reason":"café ☕"}');
  const [own, head] = ['{"type":"event"', ',"seq":1,'];
  const event = (cursor: string, name: "flare-started" | "source-status") => ({
    ...{ cursor, name, own, head, encoded },
    isCommon: true,
  });
  const bytes = sseFraming.events([event("a-1", "flare-started"), event("a-2", "source-status")]);
  expect(bytes.toString()).toBe(
    [
      `event: flare-started\nid: a-1\ndata: ${own}${head}${encoded}\n\n`,
      `event: source-status\nid: a-2\ndata: ${own}${head}${encoded}\n\n`,
    ].join(""),
  );
});

test("every name in the document's table of server-sent events is in the schemas", () => {
  const section = DOCUMENT.split("## Server-sent events\n")[1]?.split("\n## ")[0] ?? "";
  const names = [...section.matchAll(/^\| `([a-z]+)` \|/gm)].map((match) => match[1] ?? "");
  expect(names).toEqual([
    "hello",
    "subscribed",
    "reset",
    "part",
    "heartbeat",
    "missed",
    "conflated",
    "goaway",
    "close",
  ]);
  const known = JSON.stringify([ServerMessage.toJSONSchema(), CloseMessage.toJSONSchema()]);
  for (const name of names.filter((one) => one !== "reset")) expect(known).toContain(`"const":"${name}"`);
});
