/**
 * Returns what to type to run a command of this program. A clone runs its sources by npm.
 * `moduleUrl`, the URL of a module of this program, shows whether it runs from sources. Default:
 * this module's.
 */
export function ownCommand(args: string, moduleUrl: string = import.meta.url): string {
  return moduleUrl.endsWith(".ts") ? `npm run flarewire -- ${args}` : `flarewire ${args}`;
}
