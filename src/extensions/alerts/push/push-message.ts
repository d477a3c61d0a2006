import { createCipheriv, createECDH, hkdfSync, randomBytes } from "node:crypto";
import {
  type FlareAlert,
  finishedAlert,
  startedAlert,
  surgedAlert,
} from "../../../base/model/text/flare-alert.ts";
import type { EventMessage } from "../../../base/protocol/index.ts";
import { type Alert, lateText } from "../alert.ts";
import type { PushRequest } from "./push-subscription.ts";

interface PushMessage {
  /** JSON for the page's service worker. */
  readonly payload: string;
  /** Identifies the flare's start, surge or finish. */
  readonly tag: string;
  /** When its event was emitted, in milliseconds since 1970 UTC by this server's clock. */
  readonly atMs: number;
}

/** Maximum characters of the text, so that the payload fits into one record. */
const MAX_BODY = 500;

/**
 * Returns the message about an alert; `undefined` if the alert is not about a flare's start, surge
 * or finish. `lateAtMs`: when it is sent, if that is late. It then begins with the time of its
 * event.
 */
export function pushMessageOf({ body }: Pick<Alert, "body">, lateAtMs?: number): PushMessage | undefined {
  const { data } = JSON.parse(body) as { readonly data: { readonly event?: EventMessage } };
  const { event } = data;
  const text = event && textOf(event);
  if (!text) return undefined;
  const when = lateAtMs === undefined ? [] : [lateText(event.observed_at, lateAtMs)];
  const parts = [...when, text.body].filter((part) => part !== "");
  const payload = JSON.stringify({ ...text, body: parts.join("; ").slice(0, MAX_BODY) });
  return { payload, tag: text.tag, atMs: Date.parse(event.emitted_at) };
}

function textOf({ name, data }: EventMessage): FlareAlert | undefined {
  if (name === "flare-started") return startedAlert(data.flare, data.why);
  if (name === "flare-surged") return surgedAlert(data.flare, data.why);
  return name === "flare-finished" ? finishedAlert(data.flare, data.outcome, data.why) : undefined;
}

/** Size of the only record, in bytes: every push service accepts this much. */
const RECORD_BYTES = 4_096;
/** Ends the last record (RFC 8188, section 2). */
const LAST = Buffer.of(2);

/** Random values. A test replaces them with the RFC's. */
interface PushRandom {
  readonly salt?: Buffer;
  readonly privateKey?: Buffer;
}

/** Encrypts a payload for one browser, as in RFC 8291 with `aes128gcm`. */
export function encryptPush(
  payload: string,
  { p256dh, auth }: PushRequest["keys"],
  { salt = randomBytes(16), privateKey }: PushRandom = {},
): Buffer {
  const receiver = Buffer.from(p256dh, "base64url");
  const sender = createECDH("prime256v1");
  if (privateKey) sender.setPrivateKey(privateKey);
  else sender.generateKeys();
  const publicKey = sender.getPublicKey();
  const derive = (secret: Buffer, by: Buffer, info: Buffer | string, bytes: number) =>
    Buffer.from(hkdfSync("sha256", secret, by, info, bytes));
  const about = Buffer.concat([Buffer.from("WebPush: info\0"), receiver, publicKey]);
  const shared = derive(sender.computeSecret(receiver), Buffer.from(auth, "base64url"), about, 32);
  const key = derive(shared, salt, "Content-Encoding: aes128gcm\0", 16);
  const nonce = derive(shared, salt, "Content-Encoding: nonce\0", 12);
  const cipher = createCipheriv("aes-128-gcm", key, nonce);
  const sizes = Buffer.alloc(5);
  sizes.writeUInt32BE(RECORD_BYTES);
  sizes.writeUInt8(publicKey.length, 4);
  const text = [cipher.update(payload), cipher.update(LAST), cipher.final(), cipher.getAuthTag()];
  return Buffer.concat([salt, sizes, publicKey, ...text]);
}
