import { expect } from "vitest";
import { DOCUMENTS } from "../../../src/extensions/docs/index.ts";
import { addDocumentRoutes } from "../../../src/extensions/docs/site/document-routes.ts";
import { GUIDES, TEXTS } from "../../../src/extensions/docs/site/guides.ts";
import { allowAll } from "../../../src/gateway/http/access/access.ts";
import { test } from "../../gateway/http/rest/rest-fixture.ts";

/** Counts the turns of the event loop, in which others are served, until the work is done. */
async function turnsOf(work: Promise<unknown>): Promise<number> {
  let isDone = false;
  let turns = 0;
  const count = () => {
    turns += 1;
    if (!isDone) setImmediate(count);
  };
  setImmediate(count);
  await work;
  isDone = true;
  return turns;
}

test("the first search index is made in turns of one document each, so that others are served meanwhile", async ({
  rest: { app },
}) => {
  const ask = () => app.inject(DOCUMENTS.docsSearch.path);
  const [first, again, turns] = await Promise.all([ask(), ask(), turnsOf(ask())]);
  expect(turns).toBeGreaterThan(2 * TEXTS.length);
  expect(first.statusCode).toBe(200);
  expect(again.body).toBe(first.body);
  expect(await turnsOf(ask())).toBeLessThan(TEXTS.length);
});

test("guides that are requested for the first time at once are made one after another, with turns for others in between", async ({
  rest: { app },
}) => {
  const turns = await turnsOf(Promise.all(GUIDES.map(({ path }) => app.inject(path))));
  expect(turns).toBeGreaterThan(GUIDES.length);
});

test("documents that were prepared before are ready at the first request, and an aborted preparation ends", async ({
  makeRest,
}) => {
  let prepare: ReturnType<typeof addDocumentRoutes> | undefined;
  const { app } = await makeRest({
    register: ({ app, settings }) => {
      app.register(
        async (below) => {
          prepare = addDocumentRoutes(below, { ...settings, basePath: "/own" }, allowAll);
        },
        { prefix: "/own" },
      );
    },
  });
  await expect(prepare?.(AbortSignal.abort())).resolves.toBeUndefined();
  await prepare?.(new AbortController().signal);
  for (const { path } of Object.values(DOCUMENTS))
    expect(await turnsOf(app.inject(`/own${path}`)), path).toBeLessThan(TEXTS.length);
});
