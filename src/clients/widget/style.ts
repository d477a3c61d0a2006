/** The style of the elements. Font, size and color default to the page's. */
export const STYLE = `
:host {
  display: block;
  font: var(--flare-font, inherit);
  color: var(--flare-color, inherit);
  background: var(--flare-background, none);
  border: var(--flare-border, 1px solid color-mix(in srgb, currentColor 20%, transparent));
  border-radius: var(--flare-radius, 8px);
  padding: var(--flare-padding, .4em .8em);
  overflow: hidden;
}
:host([theme]) { color-scheme: light dark; color: var(--flare-color, light-dark(#16181d, #eef0f4)); background: var(--flare-background, light-dark(#fff, #0e1014)); }
:host([theme=light]) { color-scheme: light; }
:host([theme=dark]) { color-scheme: dark; }
[part=why]:empty, :host([hidden]), [hidden] { display: none !important; }
:host(flare-badge) { display: inline-block; border-radius: var(--flare-radius, 2em); max-width: 100%; box-sizing: border-box; }
ul { list-style: none; margin: 0; padding: 0; }
li { display: flex; flex-wrap: wrap; gap: 0 .6em; align-items: baseline; padding: .2em 0; }
a { color: var(--flare-link, inherit); }
:focus-visible { outline: 2px solid; outline-offset: -2px; }
[part=symbol], [part=name] { overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
[part=symbol] { font-weight: 600; max-width: 16em; }
[part=name] { flex: 1 1 6em; }
[part=why] { flex: 1 1 100%; font-size: .85em; overflow-wrap: anywhere; }
[part=name], [part=note], [part=why], time { color: var(--flare-muted, inherit); }
[part~=change], [part=price], time { font-variant-numeric: tabular-nums; white-space: nowrap; }
[part~=rise] { color: var(--flare-rise, color-mix(in srgb, currentColor 40%, #0a0)); }
[part~=fall] { color: var(--flare-fall, color-mix(in srgb, currentColor 40%, #e00)); }
[part=badge] { display: flex; gap: .5em; align-items: baseline; text-decoration: none; white-space: nowrap; }
:host(flare-ticker) { container-type: inline-size; }
:host(flare-ticker) ul { display: flex; gap: var(--flare-gap, 2em); width: max-content; animation: move var(--flare-time, 40s) ease-in-out infinite alternate; }
:host(flare-ticker) li { flex-wrap: nowrap; white-space: nowrap; }
:host(flare-ticker:is(:hover, :focus-within)) ul { animation-play-state: paused; }
:host(flare-ticker[still]) ul { animation: none; width: auto; overflow-x: auto; }
@media (prefers-reduced-motion) {
  :host(flare-ticker) ul { animation: none; width: auto; overflow-x: auto; }
}
@keyframes move { 10% { translate: 0; } 90%, to { translate: min(0px, 100cqi - 100%); } }
`;
