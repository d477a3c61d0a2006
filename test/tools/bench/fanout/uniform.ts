import {
  BUN,
  type Contender,
  FASTIFY_WEBSOCKET,
  floor,
  gateway,
  PLAIN_WS,
  SOCKET_IO,
} from "../harness/contender.ts";
import {
  clientRow,
  costRows,
  type Discipline,
  type Effort,
  enterAll,
  leaveAll,
  ratioRow,
  runField,
} from "../harness/field.ts";
import { NATS, NCHAN } from "../peers/debian-peers.ts";
import type { Row } from "../report.ts";

const ALL_CONTENDERS: readonly Contender[] = [
  gateway(),
  floor(false),
  floor(true),
  BUN,
  PLAIN_WS,
  FASTIFY_WEBSOCKET,
  SOCKET_IO,
  NCHAN,
  NATS,
];
/** The contenders that need no network. */
const LOCAL_CONTENDERS: readonly Contender[] = [gateway(), floor(false), PLAIN_WS, FASTIFY_WEBSOCKET];

/** Maximum cost of ours as a share of another's, by name. */
type Aims = Readonly<Record<string, number>>;

function discipline(events: number, bytes: number, clients: number): Discipline {
  const size = bytes >= 1_000 ? `${bytes / 1_000} kB` : `${bytes} B`;
  return { name: `${events} × ${size} to ${clients.toLocaleString("en-US")}`, load: { events, bytes } };
}

/** Sends messages of one size to all clients, this many per batch. */
export async function benchUniform(
  clients: number,
  loads: readonly (readonly [events: number, bytes: number, aims: Aims])[],
  effort: Effort,
  peers: "all" | "at hand" = "all",
): Promise<Row[]> {
  const contestants = await enterAll(peers === "all" ? ALL_CONTENDERS : LOCAL_CONTENDERS, clients);
  try {
    const disciplines = loads.map(([events, bytes]) => discipline(events, bytes, clients));
    const results = await runField(contestants, disciplines, effort);
    const ratios = loads.flatMap(([, , aims], at) =>
      contestants
        .slice(1)
        .flatMap(({ name }) =>
          ratioRow(results, disciplines[at]?.name ?? "", ["flarewire", name], aims[name]),
        ),
    );
    return [...costRows(results), ...ratios, clientRow(results, `to ${clients.toLocaleString("en-US")}`)];
  } finally {
    await leaveAll(contestants);
  }
}
