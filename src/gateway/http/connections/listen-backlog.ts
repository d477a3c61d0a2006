/**
 * Maximum number of connections that wait to be accepted. The system lowers it to its own limit.
 * Node's default of 511 overflows when 600 clients return at once: the rest retry after 1 to 31 s.
 */
export const LISTEN_BACKLOG = 65_535;
