import { expect, test } from "vitest";
import type { End } from "../../../../src/clients/sdk/transport/end.ts";
import { runPolls } from "../../../../src/clients/sdk/transport/poll-transport.ts";
import type { TransportMessage } from "../../../../src/clients/sdk/transport/transport.ts";
import { flareStarted } from "../../../app/cli/scripted-server.ts";

interface Answer {
  readonly status: number;
  readonly cursor: string;
  /** How long the answer takes. */
  readonly tookMs: number;
  readonly body?: object;
}

/** Polls from `after` with these answers in turn. The request after the last one fails. */
async function poll(after: string | undefined, answers: readonly Answer[]) {
  const asked: Record<string, string>[] = [];
  const received: TransportMessage[] = [];
  let nowMs = 0;
  const rest = [...answers];
  const run = {
    request: async (url: string) => {
      asked.push(Object.fromEntries(new URL(url).searchParams));
      const answer = rest.shift();
      if (!answer) throw new Error("no more answers");
      nowMs += answer.tookMs;
      const headers = { "flarewire-cursor": answer.cursor };
      const body = answer.status === 204 ? null : JSON.stringify(answer.body);
      return new Response(body, { status: answer.status, headers });
    },
    deliver: (message: TransportMessage) => void received.push(message),
    signal: new AbortController().signal,
  };
  const urlOf = (more: Readonly<Record<string, string>>) => `http://server?${new URLSearchParams(more)}`;
  const end: End | Error = await runPolls(run, { now: () => nowMs }, after, urlOf).catch((error) => error);
  return { asked, received, end };
}

const quiet = (cursor: string, tookMs = 25_000): Answer => ({ status: 204, cursor, tookMs });
const page = (seq: number, tookMs: number, more = false): Answer => ({
  status: 200,
  cursor: `abcd-${seq}`,
  tookMs,
  body: { events: [flareStarted(seq, "A")], more },
});
const gone: Answer = { status: 410, cursor: "", tookMs: 5, body: { lost: { reason: "expired", events: 4 } } };
const lists: Answer = { status: 200, cursor: "abcd-9", tookMs: 5, body: { events: [], snapshot: {} } };

test("[P5] after a resume the first request does not wait, and each later one waits after the previous answer's cursor", async () => {
  const { asked, received } = await poll("abcd-4", [quiet("abcd-4", 5), page(5, 700), quiet("abcd-6")]);
  expect(asked.map(({ after, wait, snapshot }) => [after, wait, snapshot])).toEqual([
    ["abcd-4", "0", undefined],
    ["abcd-4", "25", undefined],
    ["abcd-5", "25", undefined],
    ["abcd-6", "25", undefined],
  ]);
  expect(received.map(({ type }) => type)).toEqual(["subscribed", "page", "event", "page", "page"]);
  expect(received[0]).toMatchObject({ resumed: "full", cursor: "abcd-4" });
});

test("[P12] without a cursor the first request asks for the lists, and each later one waits after their cursor", async () => {
  const { asked, received } = await poll(undefined, [lists, quiet("abcd-9")]);
  expect(asked).toEqual([
    { snapshot: "true" },
    { after: "abcd-9", limit: "1000", wait: "25" },
    { after: "abcd-9", limit: "1000", wait: "25" },
  ]);
  expect(received[0]).toMatchObject({ type: "subscribed", resumed: "reset", cursor: "abcd-9" });
});

test("[P6] [L3] if the first cursor is gone, the lists and the loss are delivered; if a later one is gone, the polls end", async () => {
  const atStart = await poll("abcd-2", [gone, lists]);
  expect(atStart.received[0]).toMatchObject({ resumed: "reset", lost: { reason: "expired", events: 4 } });
  const later = await poll("abcd-2", [quiet("abcd-2"), quiet("abcd-2"), gone, lists]);
  expect(later.end).toMatchObject({ action: "resume", reason: "HTTP 410" });
  expect(later.received.filter(({ type }) => type === "subscribed")).toHaveLength(1);
});

test("[P5] an answer within a second that does not move the cursor ends the polls; quick events and slower answers do not", async () => {
  const start = quiet("abcd-4", 5);
  const stale = { action: "fallback", reason: "a stale answer" };
  expect((await poll("abcd-4", [start, quiet("abcd-4", 999)])).end).toMatchObject(stale);
  expect((await poll("abcd-4", [start, { ...page(4, 5, true), tookMs: 999 }])).end).toMatchObject(stale);
  const { asked } = await poll("abcd-4", [start, page(5, 0, true), page(6, 0), quiet("abcd-6", 1_000)]);
  expect(asked).toHaveLength(5);
});
