import { createContext } from "preact";

/** The market's origin: `live`, `recorded` or `simulated`; `undefined` if the server says none. */
export const MarketOrigin = createContext<string | undefined>(undefined);
