/**
 * Unaccepted connections, as many as the system allows. Node's default of 511 overflows when six
 * hundred clients return at once, who then retry after 1, 3, 7, 15 and 31 seconds.
 */
export const LISTEN_BACKLOG = 65_535;
