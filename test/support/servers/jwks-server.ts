import { createServer } from "node:http";
import type { Finish } from "./edges.ts";
import { AUDIENCE, ISSUER } from "./token-issuer.ts";

/** Serves a JWK set on loopback. The test replaces `jwks` at any time; `undefined`: status 500. */
export async function serveJwks(onTestFinished: Finish, ...jwks: readonly object[]) {
  const served: { jwks: readonly object[] | undefined; requests: number } = { jwks, requests: 0 };
  const server = createServer((_request, response) => {
    served.requests += 1;
    // Otherwise the verifier's pool keeps the connection, and the server does not end.
    response.shouldKeepAlive = false;
    response.writeHead(served.jwks ? 200 : 500, { "content-type": "application/json" });
    response.end(JSON.stringify({ keys: served.jwks }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address ? address.port : 0;
  const tokens = {
    jwksUrl: `http://127.0.0.1:${port}/jwks`,
    jwtIssuer: ISSUER,
    jwtAudience: AUDIENCE,
  };
  return { served, tokens };
}
