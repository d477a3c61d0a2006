import { describe, expect } from "vitest";
import { registerMetrics } from "../../../src/gateway/http/metrics-route.ts";
import type { RouteScope } from "../../../src/gateway/http/server.ts";
import { ENDPOINTS } from "../../support/expect/contracts.ts";
import { test } from "./rest/rest-fixture.ts";

const PAGE = "https://page.example";
const PREFLIGHT = {
  origin: PAGE,
  "access-control-request-method": "GET",
  "access-control-request-headers": "if-none-match",
};
const EXPOSED =
  "ETag, Link, Retry-After, Flarewire-Cursor, Flarewire-At, Flarewire-Stored-Since, Flarewire-Data-Age, Flarewire-Observed-At, Flarewire-Source-State, Flarewire-Origin, Flarewire-Facts, Flarewire-Plan, RateLimit, RateLimit-Policy";

describe("with all origins allowed", () => {
  test("pages may read every response, including problems and 304s", async ({ rest }) => {
    const { headers } = await rest.ask("GET", "/api/v1/flares");
    const answers = [
      await rest.ask("GET", "/api/v1/flares", { origin: PAGE }),
      await rest.ask("GET", "/api/v1/flares", { origin: PAGE, "if-none-match": String(headers.etag) }),
      await rest.ask("GET", "/api/v1/nothing", { origin: PAGE }),
      await rest.ask("POST", "/api/v1/flares", { origin: PAGE }),
      await rest.ask("GET", "/openapi.json"),
    ];
    expect(answers.map(({ status }) => status)).toEqual([200, 304, 404, 405, 200]);
    for (const answer of answers) {
      expect(answer.headers["access-control-allow-origin"]).toBe("*");
      expect(answer.headers["access-control-expose-headers"]).toBe(EXPOSED);
      expect(answer.headers).not.toHaveProperty("access-control-allow-credentials");
    }
  });

  test("no page of another origin reads health and metrics, also with another spelling of the path", async ({
    makeRest,
  }) => {
    const register = ({ app }: RouteScope) => registerMetrics(app, { text: () => "numbers" });
    for (const basePath of ["", "/below"]) {
      const rest = await makeRest({ settings: { basePath }, register });
      const paths = ["/healthz", "/readyz", "/metrics", "/%6detrics", "/readyz?x"].map(
        (path) => basePath + path,
      );
      for (const url of basePath === "" ? paths : [...paths, "/healthz", "/readyz"]) {
        for (const ready of [true, false]) {
          rest.ready = ready;
          for (const method of ["GET", "HEAD", "OPTIONS"] as const) {
            const { status, headers } = await rest.ask(
              method,
              url,
              method === "OPTIONS" ? PREFLIGHT : { origin: PAGE },
            );
            expect([200, 204, 503], url).toContain(status);
            const granted = Object.keys(headers).filter((field) => field.startsWith("access-control"));
            expect([method, url, granted]).toEqual([
              method,
              url,
              method === "OPTIONS" && url.includes("%") ? granted : [],
            ]);
          }
        }
      }
    }
  });

  test("every Flarewire field of a response is exposed", async ({ rest }) => {
    const { headers } = await rest.ask("GET", "/api/v1/snapshot");
    const own = Object.keys(headers).filter((field) => field.startsWith("flarewire-"));
    expect(own).toHaveLength(6);
    for (const field of own) expect(EXPOSED.toLowerCase().split(", ")).toContain(field);
  });

  test("a preflight gets 204 with methods, fields and a maximum age", async ({ rest }) => {
    for (const { path, tag } of Object.values(ENDPOINTS)) {
      if (tag === "probes") continue;
      const { status, headers } = await rest.ask("OPTIONS", path, PREFLIGHT);
      expect(status).toBe(204);
      expect(headers).toMatchObject({
        allow: "GET, HEAD, OPTIONS",
        "access-control-allow-origin": "*",
        "access-control-allow-methods": "GET, HEAD, OPTIONS",
        "access-control-allow-headers": "Authorization, If-None-Match, Last-Event-ID",
        "access-control-max-age": "86400",
      });
    }
  });

  test("a plain OPTIONS returns the methods and does not count as a preflight", async ({ rest }) => {
    for (const url of ["/api/v1/flares", "/api/v1/flares?x"]) {
      const { status, headers } = await rest.ask("OPTIONS", url);
      expect([status, headers.allow], url).toEqual([204, "GET, HEAD, OPTIONS"]);
      expect(headers).not.toHaveProperty("access-control-max-age");
    }
  });
});

describe("with a list of origins", () => {
  const settings = { corsOrigins: [PAGE, "http://localhost:3000"] };

  test("listed origins may read, others may not, and Vary names Origin for caches", async ({ makeRest }) => {
    const rest = await makeRest({ settings });
    const granted = async (origin: string | undefined) => {
      const { status, headers } = await rest.ask(
        "GET",
        "/api/v1/charts",
        origin === undefined ? {} : { origin },
      );
      expect(status).toBe(200);
      expect(headers.vary).toBe("Accept-Encoding, Origin");
      return headers["access-control-allow-origin"];
    };
    expect(await granted(PAGE)).toBe(PAGE);
    expect(await granted("http://localhost:3000")).toBe("http://localhost:3000");
    for (const origin of [
      undefined,
      "null",
      "https://page.example.evil",
      "http://page.example",
      `${PAGE}/`,
    ]) {
      expect(await granted(origin), origin).toBeUndefined();
    }
    expect((await rest.ask("GET", "/nothing", { origin: PAGE })).headers.vary).toBe("Accept, Origin");
  });

  test("a preflight of another origin gets no CORS fields", async ({ makeRest }) => {
    const rest = await makeRest({ settings });
    expect(
      (await rest.ask("OPTIONS", "/api/v1/flares", PREFLIGHT)).headers["access-control-allow-origin"],
    ).toBe(PAGE);
    const { status, headers } = await rest.ask("OPTIONS", "/api/v1/flares", {
      ...PREFLIGHT,
      origin: "https://e.example",
    });
    expect(status).toBe(204);
    expect(Object.keys(headers).filter((field) => field.startsWith("access-control"))).toEqual([]);
  });

  test("a list that contains a star allows all origins", async ({ makeRest }) => {
    const rest = await makeRest({ settings: { corsOrigins: [PAGE, "*"] } });
    expect(
      (await rest.ask("GET", "/api/v1/flares", { origin: "https://e.example" })).headers[
        "access-control-allow-origin"
      ],
    ).toBe("*");
  });

  test("an empty list allows no origin", async ({ makeRest }) => {
    const rest = await makeRest({ settings: { corsOrigins: [] } });
    const { headers } = await rest.ask("GET", "/api/v1/flares", { origin: PAGE });
    expect(headers).not.toHaveProperty("access-control-allow-origin");
  });
});
