/**
 * Connections that the system may hold before they are accepted: as many as it allows (on Linux
 * `net.core.somaxconn`, default 4,096). Node's default of 511 overflows when six hundred clients
 * return at once; their packets are dropped, and they retry after 1, 3, 7, 15 and 31 seconds.
 */
export const LISTEN_BACKLOG = 65_535;
