/**
 * How many connections the system may hold that were not accepted yet: as many as it allows, on Linux `net.core.somaxconn`, 4,096 unless set otherwise. Node's own 511 is full when six hundred clients
 * come back at once; what finds it full is dropped unanswered, and its client tries again after 1, 3, 7, 15 and 31 seconds.
 */
export const LISTEN_BACKLOG = 65_535;
