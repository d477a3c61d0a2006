import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { type ErrorCode, FlarewireError } from "../../../base/protocol/index.ts";
import { checkOrigin } from "../connections/admission.ts";
import { invalid, quote } from "../problems/invalid.ts";

export const SUBPROTOCOL = "flarewire.v1";

/** Name of a subprotocol: a token of RFC 9110, with at most 64 characters. */
const SUBPROTOCOL_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;
/** 16 bytes in base64 (RFC 6455, 4.1). */
const HANDSHAKE_KEY = /^[+/0-9A-Za-z]{22}==$/;
const SUPPORTED_VERSION = "13";

/** Problems that refuse a WebSocket while it is still HTTP, in addition to those of any path. */
export const UPGRADE_PROBLEMS = [
  "invalid-parameter",
  "unknown-channel",
  "unsupported-version",
  "unauthorized",
  "forbidden",
  "origin-refused",
  "upgrade-required",
  "not-ready",
  "draining",
] as const satisfies readonly ErrorCode[];

/** Refuses an invalid handshake while it is still HTTP and the client can read the response. */
export function checkHandshake(
  { headers, httpVersion }: Pick<IncomingMessage, "headers" | "httpVersion">,
  allowedOrigins: readonly string[] | undefined,
): void {
  checkRequest(httpVersion, headers);
  if (headers["sec-websocket-version"] !== SUPPORTED_VERSION) {
    throw new FlarewireError("upgrade-required", `Sec-WebSocket-Version must be ${SUPPORTED_VERSION}`, {
      field: "Sec-WebSocket-Version",
      bound: SUPPORTED_VERSION,
    });
  }
  if (!HANDSHAKE_KEY.test(headers["sec-websocket-key"] ?? "")) {
    throw invalid("Sec-WebSocket-Key", headers["sec-websocket-key"], "16 bytes in base64");
  }
  checkProtocols(headers["sec-websocket-protocol"]);
  checkOrigin(headers.origin, allowedOrigins);
}

/** Requires HTTP/1.1 (RFC 9110, 7.8) and no body, because frames follow the header. */
function checkRequest(httpVersion: string, headers: IncomingHttpHeaders): void {
  if (httpVersion === "1.0") {
    throw new FlarewireError("upgrade-required", "an upgrade needs HTTP/1.1, and this request is HTTP/1.0");
  }
  const length = headers["content-length"] ?? "0";
  if (!/^0+$/.test(length)) throw invalid("Content-Length", length, "0 or left out: a handshake has no body");
  const coding = headers["transfer-encoding"];
  if (coding !== undefined) {
    throw invalid("Transfer-Encoding", coding, "left out: a handshake has no body");
  }
}

function checkProtocols(offered: string | undefined): void {
  if (offered === undefined) return;
  const names = offered.split(",").map((name) => name.trim());
  const valid = names.every((name) => SUBPROTOCOL_NAME.test(name)) && new Set(names).size === names.length;
  if (!valid)
    throw invalid(
      "Sec-WebSocket-Protocol",
      offered,
      "distinct names of at most 64 characters, separated by commas",
    );
  if (names.includes(SUBPROTOCOL)) return;
  const message = `Sec-WebSocket-Protocol is ${quote(offered)}; the server supports ${SUBPROTOCOL}`;
  throw new FlarewireError("unsupported-version", message, {
    field: "Sec-WebSocket-Protocol",
    bound: SUBPROTOCOL,
  });
}
