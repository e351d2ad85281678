/** Ends of texts, in time that grows as the text does: an expression such as `/\/+$/` looks from each slash at all behind it. */

/** A text without the characters of `ending` at its end. */
export const withoutTrailing = (text: string, ending: string): string => {
  let end = text.length;
  while (end > 0 && ending.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
};

/** What stands before the first `mark`: the whole text where there is none. */
export const upTo = (text: string, mark: string): string => {
  const at = text.indexOf(mark);
  return at < 0 ? text : text.slice(0, at);
};
