import type { IncomingHttpHeaders, IncomingMessage } from "node:http";
import { FlarewireError, type Rights } from "../../../base/protocol/index.ts";
import { type ConnectQuery, checkQuery } from "../../hub/index.ts";
import { checkOrigin, invalid, quote } from "../connections/admission.ts";
import { readFilter, readFlag } from "./filter-query.ts";

export const SUBPROTOCOL = "flarewire.v1";

/** Name of a subprotocol: a token of RFC 9110, with at most 64 characters. */
const SUBPROTOCOL_NAME = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,64}$/;
/** 16 bytes in base64 (RFC 6455, 4.1). */
const HANDSHAKE_KEY = /^[+/0-9A-Za-z]{22}==$/;
const MAX_CHANNELS = 64;
const SUPPORTED_VERSION = "13";

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

/**
 * Reads the parameters that all transports share. Throws `invalid-parameter`, `unknown-channel` or
 * `forbidden`.
 */
export function readStreamQuery(query: unknown, rights: Rights): ConnectQuery {
  const given: Record<string, unknown> = typeof query === "object" && query !== null ? { ...query } : {};
  const { mode } = given;
  if (mode !== undefined && mode !== "events" && mode !== "latest")
    throw invalid("mode", mode, "events or latest");
  const filter = readFilter(given);
  const snapshot = readFlag("snapshot", given.snapshot);
  const mirror = readFlag("mirror", given.mirror);
  const channels = readChannels(given.channels);
  const read: ConnectQuery = { channels, filter, mode, after: readAfter(given.after), snapshot, mirror };
  checkQuery(read, rights);
  return read;
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

/** Reads `channels=a,b` and `channels=a&channels=b` alike, up to {@link MAX_CHANNELS} in all. */
function readChannels(value: unknown): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const names = [value].flat().flatMap((part) => String(part).split(","));
  if (names.length <= MAX_CHANNELS) return names;
  const bound = `at most ${MAX_CHANNELS} names`;
  throw new FlarewireError("invalid-parameter", `channels has ${names.length} names; it must have ${bound}`, {
    field: "channels",
    bound,
  });
}

function readAfter(value: unknown): string | undefined {
  if (value === undefined || typeof value === "string") return value;
  throw invalid("after", value, "given once");
}
