import type { Logger } from "pino";
import { notifyLog } from "../../base/lib/notify.ts";
import type { Clock } from "../../base/lib/time/clock.ts";
import { openTokenFile, TokenKeySet, TokenVerifier } from "../keys/index.ts";
import type { GatewaySettings } from "../settings/index.ts";

/** The settings of {@link openTokens}. */
export type TokenConfig = Partial<Pick<GatewaySettings, "jwtKey" | "jwksUrl" | "jwtIssuer" | "jwtAudience">>;

/** Opens the verifier of tokens; `undefined` without settings. Rejects if a file is invalid. */
export async function openTokens(
  { jwtKey, jwksUrl, jwtIssuer: issuer, jwtAudience: audience }: TokenConfig,
  { clock, logger }: { readonly clock: Clock; readonly logger: Logger },
): Promise<TokenVerifier | undefined> {
  if (issuer === undefined || audience === undefined) return undefined;
  const parts = { clock, notify: notifyLog(logger) };
  const source =
    jwksUrl === undefined ? await openTokenFile(jwtKey ?? "", parts) : new TokenKeySet(jwksUrl, parts);
  return new TokenVerifier({ source, issuer, audience, clock });
}
