/*
 * npm run conformance -- --url URL: tries a server of the protocol from outside. README.md says
 * what it does.
 */
import { runKit } from "./run-kit.ts";

process.exitCode = await runKit(process.argv.slice(2), process);
