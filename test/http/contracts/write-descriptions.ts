import { writeFileSync } from "node:fs";
import { DESCRIPTIONS_FILE, describe } from "./docstrings.ts";

writeFileSync(DESCRIPTIONS_FILE, describe());
