/** Returns what to type to run a command of this program. A clone runs its sources by npm. */
export function ownCommand(args: string): string {
  return import.meta.url.endsWith(".ts") ? `npm run flarewire -- ${args}` : `flarewire ${args}`;
}
