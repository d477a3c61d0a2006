import { hasMixedLetters } from "../../../base/lib/text/mixed-letters.ts";
import { safeLink, safeText } from "../../../base/lib/text/safe-text.ts";

/**
 * Untrusted text, isolated from the direction of the surrounding text, and marked if some of its
 * letters only look Latin. The mark comes first, where no ellipsis hides it.
 */
export function UntrustedText({ text }: { readonly text: string }) {
  const shown = safeText(text);
  return (
    <bdi class="untrusted">
      {hasMixedLetters(shown) && (
        <span class="warned" title="Some letters only look like plain Latin ones">
          ⚠<span class="unseen"> some letters only look Latin: </span>{" "}
        </span>
      )}
      {shown}
    </bdi>
  );
}

/** An external link; nothing if it is not safe to follow. */
export function Outward({
  href,
  label,
}: {
  readonly href: string | null | undefined;
  readonly label: string;
}) {
  const safe = safeLink(href);
  if (safe === undefined) return null;
  return (
    <a href={safe} target="_blank" rel="noopener noreferrer nofollow ugc">
      {label}
    </a>
  );
}
