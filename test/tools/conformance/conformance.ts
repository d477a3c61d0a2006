/* npm run conformance -- --url URL: tests a server of the protocol from outside. See README.md. */
import { runKit } from "./run-kit.ts";

process.exitCode = await runKit(process.argv.slice(2), process);
