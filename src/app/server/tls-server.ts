import { X509Certificate } from "node:crypto";
import type { Socket } from "node:net";
import { createSecureContext, createServer, type Server, type TLSSocket } from "node:tls";
import { InputError } from "../../base/lib/input-error.ts";
import { readTrustedText } from "../../base/lib/io/json-file.ts";
import { messageOf } from "../../base/lib/text/message-of.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { clientOf, createTrust, destroyAfter, type Refusals } from "../../gateway/http/index.ts";
import { FollowedFiles } from "../../gateway/keys/index.ts";
import type { GatewaySettings } from "../../gateway/settings/index.ts";

export type TlsConfig = Partial<Pick<GatewaySettings, "tlsCert" | "tlsKey" | "trustProxy">>;

interface TlsOptions {
  readonly clock: Clock;
  readonly logger: Record<"info" | "error", (facts: object, message: string) => void>;
  readonly refusals: Pick<Refusals, "count">;
  /** Receives each connection after its handshake. */
  readonly onSecure: (socket: Socket) => void;
  /** How many more connections the HTTP server accepts. Handshakes in progress do not count. */
  readonly room: () => number;
}

const MAX_FILE_BYTES = 1_048_576;
const HANDSHAKE_MS = 10_000;
/** How long a connection may last whose client has ended it. */
const ENDING_MS = 5_000;
/** Maximum handshakes in progress in total. An idle handshake occupies a connection. */
const MAX_HANDSHAKES = 2_048;
/** Maximum handshakes in progress per address. Trusted proxies are exempt. */
export const MAX_HANDSHAKES_PER_ADDRESS = 256;
/**
 * Handshakes in progress that a full server permits, so that it can report to these clients that it
 * is full.
 */
export const FEW_HANDSHAKES = 16;

const TROUBLE =
  "the TLS certificate or its key is invalid; the previous ones stay in use, and changes have no effect";

interface Pair {
  readonly cert: string;
  readonly key: string;
}

/** Completes TLS handshakes on connections. Reloads the certificate when its files change. */
export class TlsServer {
  readonly #options: TlsOptions;
  readonly #server: Server;
  readonly #files: FollowedFiles<Pair>;
  /** Each connection in its handshake, by {@link nameOf}. */
  readonly #pending = new Map<string, { readonly address: string; readonly socket: Socket }>();
  readonly #byAddress = new Map<string, number>();
  readonly #isTrusted: (address: string) => boolean;

  private constructor(
    options: TlsOptions,
    { cert, key }: Pair,
    files: FollowedFiles<Pair>,
    isTrusted: (address: string) => boolean,
  ) {
    this.#options = options;
    this.#isTrusted = isTrusted;
    this.#files = files;
    const fixed = { handshakeTimeout: HANDSHAKE_MS, ALPNProtocols: ["http/1.1"] };
    this.#server = createServer({ cert, key, ...fixed });
    const { clock, onSecure } = options;
    // If a client resets its connection, Node may wait forever for a write to complete.
    function bound(this: TLSSocket): void {
      destroyAfter(ENDING_MS, this, clock);
    }
    this.#server.on("secureConnection", (socket) => {
      this.#endHandshake(nameOf(socket));
      socket.on("end", bound);
      onSecure(socket);
    });
    // Not logged: scanners and clients that do not trust the certificate cause many of these.
    this.#server.on("tlsClientError", (_error, socket) => socket.destroy());
  }

  /** Reads the files; `undefined` if the settings name none. Rejects with InputError. */
  static async open(config: TlsConfig, options: TlsOptions): Promise<TlsServer | undefined> {
    const { tlsCert, tlsKey, trustProxy = false } = config;
    if (tlsCert === undefined || tlsKey === undefined) return undefined;
    const { clock, logger } = options;
    const opened = await FollowedFiles.open({
      files: [tlsCert, tlsKey],
      clock,
      read: () => readPair(tlsCert, tlsKey),
      onChange: (pair) => {
        server.#server.setSecureContext(pair);
        logger.info(factsOf(tlsCert, pair), "reloaded the TLS certificate");
      },
      onInvalid: (error) => logger.error({ reason: messageOf(error) }, TROUBLE),
    });
    const server = new TlsServer(options, opened.value, opened.files, createTrust(trustProxy));
    logger.info(factsOf(tlsCert, opened.value), "loaded the TLS certificate");
    return server;
  }

  get trouble(): string | undefined {
    return this.#files.isStale ? TROUBLE : undefined;
  }

  /** Begins the handshake on an unread connection, or closes it at the limits. */
  accept(socket: Socket): void {
    const peer = socket.remoteAddress ?? "";
    const [name, address] = [nameOf(socket), clientOf(peer)];
    const ofAddress = this.#byAddress.get(address) ?? 0;
    const most = Math.min(MAX_HANDSHAKES, Math.max(FEW_HANDSHAKES, this.#options.room()));
    const isBeyond = ofAddress >= MAX_HANDSHAKES_PER_ADDRESS && !this.#isTrusted(peer);
    if (isBeyond || this.#pending.size >= most) {
      this.#options.refusals.count("handshakes", socket.remoteAddress);
      socket.destroy();
      return;
    }
    this.#pending.set(name, { address, socket });
    this.#byAddress.set(address, ofAddress + 1);
    socket.once("close", () => this.#endHandshake(name));
    // Until the handshake is complete, a client that has closed its side is gone.
    socket.allowHalfOpen = false;
    this.#server.emit("connection", socket);
  }

  #endHandshake(name: string): void {
    const { address } = this.#pending.get(name) ?? {};
    if (address === undefined) return;
    this.#pending.delete(name);
    const left = (this.#byAddress.get(address) ?? 0) - 1;
    if (left > 0) this.#byAddress.set(address, left);
    else this.#byAddress.delete(address);
  }

  /** Stops following the files, and ends handshakes, which would delay the end of the process. */
  stop(): void {
    this.#files.stop();
    for (const { socket } of this.#pending.values()) socket.destroy();
  }
}

async function readPair(certFile: string, keyFile: string): Promise<{ text: string; value: Pair }> {
  const [cert, key] = await Promise.all([
    readTrustedText(certFile, MAX_FILE_BYTES),
    readTrustedText(keyFile, MAX_FILE_BYTES),
  ]);
  try {
    createSecureContext({ cert, key });
  } catch (cause) {
    const reason = `it is not a certificate in PEM, or ${keyFile} is not its key (${messageOf(cause)})`;
    throw new InputError(certFile, reason, { cause });
  }
  return { text: cert + key, value: { cert, key } };
}

function factsOf(file: string, { cert }: Pair) {
  const { subject, validTo } = new X509Certificate(cert);
  return { file, subject: subject?.replaceAll("\n", ", "), validTo };
}

function nameOf({ remoteAddress, remotePort }: Pick<Socket, "remoteAddress" | "remotePort">): string {
  return `${remoteAddress} ${remotePort}`;
}
