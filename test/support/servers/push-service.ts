import type { webcrypto } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Waiters } from "../time/waiters.ts";

/** A message that a push service received, with the payload decrypted as by a browser. */
interface Pushed {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly payload: unknown;
}

/** A browser's keys, and a local push service that decrypts with WebCrypto. */
export class PushService implements AsyncDisposable {
  readonly received: Pushed[] = [];
  /** The status of the next responses. */
  status = 201;
  #keys: webcrypto.CryptoKeyPair | undefined;
  readonly #auth = crypto.getRandomValues(new Uint8Array(16));
  readonly #waiters = new Waiters(() => ({ received: this.received.slice(-3) }));
  #port = 0;
  readonly #server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const payload = JSON.parse(await this.#decrypt(Buffer.concat(chunks)));
    this.received.push({ path: request.url ?? "", headers: request.headers, payload });
    response.writeHead(this.status).end();
    this.#waiters.look();
  });

  async up(): Promise<void> {
    this.#keys = await crypto.subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, true, ["deriveBits"]);
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
  }

  /** Returns the subscription that a page would register. */
  async subscription(name = "browser") {
    return {
      endpoint: `http://127.0.0.1:${this.#port}/${name}`,
      keys: {
        p256dh: Buffer.from(await this.#publicKey()).toString("base64url"),
        auth: Buffer.from(this.#auth).toString("base64url"),
      },
    };
  }

  /** Resolves when the condition is true. It is checked after each message. */
  until(condition: () => boolean): Promise<void> {
    return this.#waiters.until(condition);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #publicKey(): Promise<ArrayBuffer> {
    if (!this.#keys) throw new Error("call up() first");
    return await crypto.subtle.exportKey("raw", this.#keys.publicKey);
  }

  /** Decrypts by RFC 8291, with another implementation than the sender's. */
  async #decrypt(message: Buffer): Promise<string> {
    if (!this.#keys) throw new Error("call up() first");
    const salt = Uint8Array.from(message.subarray(0, 16));
    const senderPoint = Uint8Array.from(message.subarray(21, 21 + message.readUInt8(20)));
    const curve = { name: "ECDH", namedCurve: "P-256" };
    const sender = await crypto.subtle.importKey("raw", senderPoint, curve, false, []);
    const secret = await crypto.subtle.deriveBits({ ...curve, public: sender }, this.#keys.privateKey, 256);
    const text = (part: string) => new TextEncoder().encode(part);
    const about = Buffer.concat([text("WebPush: info\0"), Buffer.from(await this.#publicKey()), senderPoint]);
    const shared = await derive(secret, this.#auth, Uint8Array.from(about), 256);
    const bytes = await derive(shared, salt, text("Content-Encoding: aes128gcm\0"), 128);
    const iv = await derive(shared, salt, text("Content-Encoding: nonce\0"), 96);
    const key = await crypto.subtle.importKey("raw", bytes, "AES-GCM", false, ["decrypt"]);
    const record = Uint8Array.from(message.subarray(21 + senderPoint.length));
    const plain = Buffer.from(await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, record));
    if (plain.at(-1) !== 2) throw new Error("the record has no delimiter of a last record");
    return plain.subarray(0, -1).toString();
  }
}

type Bytes = Uint8Array<ArrayBuffer>;

async function derive(secret: ArrayBuffer, salt: Bytes, info: Bytes, bits: number): Promise<ArrayBuffer> {
  const key = await crypto.subtle.importKey("raw", secret, "HKDF", false, ["deriveBits"]);
  return await crypto.subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt, info }, key, bits);
}
