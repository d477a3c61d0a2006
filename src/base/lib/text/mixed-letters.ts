/** Scripts with letters that look like Latin ones. */
const LOOK_ALIKE = /[\p{sc=Cyrillic}\p{sc=Greek}\p{sc=Armenian}\p{sc=Cherokee}\p{sc=Coptic}\p{sc=Lisu}]/u;
/** Mathematical and full-width letters, which can imitate any Latin name. */
const STYLED = /[\u{1d400}-\u{1d7ff}\uff21-\uff5a]/u;

/**
 * Whether a name has letters that only look Latin: any mathematical or full-width letter, or one of
 * another script beside Latin ones, such as the Cyrillic T in `USD\u0422`.
 */
export function hasMixedLetters(text: string): boolean {
  return STYLED.test(text) || (LOOK_ALIKE.test(text) && /\p{sc=Latin}/u.test(text));
}
