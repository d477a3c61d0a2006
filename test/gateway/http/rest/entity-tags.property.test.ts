import fc from "fast-check";
import { expect, test } from "vitest";
import { RESOURCES, ResourceBodies } from "../../../../src/gateway/http/rest/resource-bodies.ts";
import { STEPS, TestMarket } from "../../hub/test-market.ts";
import { HandHead } from "./rest-fixture.ts";

const PLANS = ["free", "pro"] as const;

/** Returns every representation that a process serves now, with its name. */
function servedBy(bodies: ResourceBodies) {
  return PLANS.flatMap((plan) => [
    ...RESOURCES.map((name) => ({ of: `${name} ${plan}`, made: bodies.resource(name, plan) })),
    { of: `snapshot ${plan}`, made: bodies.snapshot(plan) },
  ]);
}

const operation = fc.oneof(
  fc.constantFrom(...STEPS),
  // Requests a representation from a process, or restarts a process.
  fc.record({ ask: fc.nat(2) }),
  fc.record({ begin: fc.nat(2) }),
);

test("an entity tag identifies the same bytes in every process, regardless of the order of requests and starts", () => {
  fc.assert(
    fc.property(fc.array(operation, { minLength: 1, maxLength: 60 }), (operations) => {
      const market = new TestMarket();
      const head = new HandHead();
      const processes = [0, 1, 2].map(() => new ResourceBodies(head));
      const bytesOf = new Map<string, string>();
      const note = (served: ReturnType<typeof servedBy>) => {
        for (const { of, made } of served) {
          const text = made.bytes.toString();
          expect(bytesOf.get(`${of} ${made.version}`) ?? text).toBe(text);
          bytesOf.set(`${of} ${made.version}`, text);
        }
      };
      for (const next of operations) {
        const asked = typeof next === "object" && "ask" in next ? processes[next.ask] : undefined;
        if (typeof next === "string") head.move(market.poll([next]).snapshot);
        else if ("begin" in next) processes[next.begin] = new ResourceBodies(head);
        if (asked) note(servedBy(asked));
      }
      const all = processes.map(servedBy);
      for (const served of all) note(served);
      const tagsOf = (served: ReturnType<typeof servedBy>) => served.map(({ made }) => made.etag("br"));
      expect(all.map(tagsOf)).toEqual(all.map(() => tagsOf(all[0] ?? [])));
    }),
    { numRuns: 100 },
  );
});
