import { expect, test } from "vitest";
import { reduceOffers } from "../../../../src/gateway/http/stream/websocket-extensions.ts";

const ACCEPTED = "permessage-deflate; server_no_context_takeover; client_no_context_takeover";

test.for([
  // Firefox, Chromium and `ws`, Python's websockets, Safari before 2020.
  ["permessage-deflate", ACCEPTED],
  ["permessage-deflate; client_max_window_bits", `${ACCEPTED}; client_max_window_bits=12`],
  [
    "permessage-deflate; server_max_window_bits=12; client_max_window_bits=12",
    `${ACCEPTED}; server_max_window_bits=12; client_max_window_bits=12`,
  ],
  ["x-webkit-deflate-frame", undefined],
  ['permessage-deflate; server_max_window_bits="15"', `${ACCEPTED}; server_max_window_bits=12`],
  ["permessage-deflate; client_max_window_bits=9", `${ACCEPTED}; client_max_window_bits=9`],
  ["permessage-deflate; client_max_window_bits=15", `${ACCEPTED}; client_max_window_bits=12`],
  ["permessage-deflate;server_no_context_takeover ; client_no_context_takeover", ACCEPTED],
  ["", undefined],
] as const)("[W37] %s is answered with %s", ([offered, accepted]) => {
  expect(reduceOffers(offered)).toBe(accepted);
});

test.for([
  ["a smaller server window than that of the frames", "server_max_window_bits=11"],
  ["a server window out of range", "server_max_window_bits=16"],
  ["a window with a leading zero", "server_max_window_bits=08"],
  ["a window without a number", "server_max_window_bits"],
  ["a client window out of range", "client_max_window_bits=7"],
  ["a value for a parameter without one", "server_no_context_takeover=true"],
  ["a parameter that is not defined", "mux"],
  ["a parameter twice", "client_no_context_takeover; client_no_context_takeover"],
] as const)("[W37] an offer with %s is declined, and the next one is looked at", ([, parameters]) => {
  const offer = `permessage-deflate; ${parameters}`;
  expect(reduceOffers(offer)).toBeUndefined();
  expect(reduceOffers(`mux, ${offer}, ,permessage-deflate`)).toBe(ACCEPTED);
});

test.for([
  "permessage-deflate; ",
  "permessage deflate",
  "permessage-deflate; server_max_window_bits=",
  'permessage-deflate; server_max_window_bits="1',
  'permessage-deflate; a="1,2"',
  "; x",
  "permessage-deflate; =1",
])("[W37] [W3] a field that RFC 6455 does not know is refused with the bound: %s", (field) => {
  expect(() => reduceOffers(field)).toThrow(/^Sec-WebSocket-Extensions is ".*"; it must be extensions/);
});
