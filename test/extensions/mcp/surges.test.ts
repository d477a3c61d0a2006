import { expect, test } from "vitest";
import type { ApiResponse, RequestApi } from "../../../src/extensions/mcp/market-api.ts";
import { TOOLS } from "../../../src/extensions/mcp/tools.ts";
import { SAMPLE_EXPLANATION, SAMPLE_FLARE } from "../../support/world/samples.ts";

const respond = (status: number, body: object): ApiResponse => ({
  status,
  header: () => undefined,
  text: JSON.stringify(body),
});

/** Calls `flares_since` with these responses of the server. */
function callSince(answer: (path: string) => ApiResponse): Promise<object> {
  const tool = TOOLS.find(({ name }) => name === "flares_since");
  if (!tool) throw new Error("no tool flares_since");
  const request: RequestApi = async (path) => answer(path);
  return tool.run(request, { cursor: "abcd-1" }, new AbortController().signal);
}

const OTHER = SAMPLE_FLARE.id.replace("3b", "4b");

const surgeOn = (list: string, number: number, id = SAMPLE_FLARE.id) => {
  const surge = { number, at: SAMPLE_FLARE.started_trending_at, price: "0.3", score: 6.5 };
  const flare = { ...SAMPLE_FLARE, id };
  const data = { op: "set", id, set: {}, flare, why: { ...SAMPLE_EXPLANATION, surge }, surge };
  const { at: observed_at } = surge;
  return { name: "flare-surged", channel: `flares.${list}`, cursor: "abcd-2", observed_at, data };
};

test("[W45] a surge is returned once, with its number and reason; without the list pro, that of the list free", async () => {
  const both = [surgeOn("free", 1), surgeOn("pro", 1), surgeOn("free", 2), surgeOn("free", 1, OTHER)];
  const page = { cursor: "abcd-9", more: false, events: both };
  const { events } = Object(await callSince(() => respond(200, page)));
  const why = SAMPLE_EXPLANATION.text;
  expect(events).toMatchObject([
    { name: "flare-surged", list: "pro", surge: { number: 1 }, flare: { id: SAMPLE_FLARE.id, why } },
    { name: "flare-surged", list: "free", surge: { number: 2 }, flare: { id: SAMPLE_FLARE.id, why } },
    { name: "flare-surged", list: "free", surge: { number: 1 }, flare: { id: OTHER, why } },
  ]);
});

test("[W45] a server that does not know surges is asked for the other events", async () => {
  const asked: (string | null)[] = [];
  const found = await callSince((path) => {
    const names = new URLSearchParams(path.split("?")[1]).get("names");
    asked.push(names);
    if (names?.includes("surged")) return respond(400, { field: "names", value: names });
    return respond(200, { cursor: "abcd-5", more: false, events: [] });
  });
  expect(found).toMatchObject({ cursor: "abcd-5", events: [], lost: null });
  expect(asked).toEqual([
    "flare-started,flare-surged,flare-finished,flare-outcome",
    "flare-started,flare-finished,flare-outcome",
  ]);
});
