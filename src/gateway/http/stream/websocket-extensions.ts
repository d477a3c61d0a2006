import { WINDOW_BITS } from "../../hub/index.ts";
import { invalid } from "../problems/invalid.ts";

/** A name, or a value without its quotes (RFC 9110, 5.6.2). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Bits of a window, 8 to 15, without leading zeros (RFC 7692, 7.1.2). */
const WINDOW_BITS_TEXT = /^([89]|1[0-5])$/;
const DEFLATE = "permessage-deflate";
const NO_TAKEOVER = "server_no_context_takeover; client_no_context_takeover";

interface Offer {
  readonly name: string;
  /** In the order of the offer. The value is `true` if a parameter has none. */
  readonly parameters: readonly (readonly [name: string, value: string | true])[];
}

/**
 * Returns the field `Sec-WebSocket-Extensions` with the first acceptable offer only, if any. Limits
 * it to compression without context takeover (RFC 7692), so that all clients get the same frames.
 * Throws `invalid-parameter` for an invalid field, as RFC 6455, 9.1, requires.
 */
export function reduceOffers(field: string): string | undefined {
  for (const offer of readOffers(field)) {
    const accepted = offer.name === DEFLATE ? acceptDeflate(offer) : undefined;
    if (accepted !== undefined) return accepted;
  }
  return undefined;
}

function acceptDeflate({ parameters }: Offer): string | undefined {
  const given = new Map(parameters);
  if (given.size < parameters.length) return undefined;
  if (!parameters.every(([name, value]) => isParameter(name, value))) return undefined;
  const serverBits = given.get("server_max_window_bits");
  // All clients share frames that are compressed for one window. A client with a smaller one gets
  // uncompressed frames.
  if (serverBits !== undefined && Number(serverBits) < WINDOW_BITS) return undefined;
  const server = serverBits === undefined ? "" : `; server_max_window_bits=${WINDOW_BITS}`;
  const clientBits = given.get("client_max_window_bits");
  // Client messages are small. A limited window limits the memory to inflate them.
  const most = clientBits === true ? WINDOW_BITS : Math.min(Number(clientBits), WINDOW_BITS);
  const client = clientBits === undefined ? "" : `; client_max_window_bits=${most}`;
  return `${DEFLATE}; ${NO_TAKEOVER}${server}${client}`;
}

/**
 * Whether a parameter is valid. An invalid one makes the server decline the offer (RFC 7692, 7.1).
 */
function isParameter(name: string, value: string | true): boolean {
  switch (name) {
    case "server_no_context_takeover":
    case "client_no_context_takeover":
      return value === true;
    case "server_max_window_bits":
      return value !== true && WINDOW_BITS_TEXT.test(value);
    case "client_max_window_bits":
      return value === true || WINDOW_BITS_TEXT.test(value);
    default:
      return false;
  }
}

/** Splits the field. No value has a comma or semicolon, not even a quoted one (RFC 6455, 9.1). */
function readOffers(field: string): readonly Offer[] {
  const members = field.split(",").map((member) => member.trim());
  return members.filter((member) => member !== "").map((member) => readOffer(member, field));
}

function readOffer(member: string, field: string): Offer {
  const [name = "", ...rest] = member.split(";").map((part) => part.trim());
  if (!TOKEN.test(name)) throw unreadable(field);
  const parameters = rest.map((part): [string, string | true] => {
    const at = part.indexOf("=");
    const parameter = (at < 0 ? part : part.slice(0, at)).trimEnd();
    const value = at < 0 ? true : unquote(part.slice(at + 1).trimStart());
    if (!TOKEN.test(parameter) || (value !== true && !TOKEN.test(value))) throw unreadable(field);
    return [parameter, value];
  });
  return { name, parameters };
}

function unquote(value: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"$/.exec(value)?.[1];
  return quoted === undefined ? value : quoted.replaceAll(/\\(.)/g, "$1");
}

function unreadable(field: string): Error {
  return invalid("Sec-WebSocket-Extensions", field, "extensions as in RFC 6455, 9.1, separated by commas");
}
