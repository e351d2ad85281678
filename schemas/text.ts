/** Trims and shortens texts in linear time: a regular expression such as `/\/+$/` would scan from each slash to the end. */

/** Returns a text without the characters of `ending` at its end. */
export const trimTrailing = (text: string, ending: string): string => {
  let end = text.length;
  while (end > 0 && ending.includes(text.charAt(end - 1))) end--;
  return text.slice(0, end);
};

/** Returns the text before the first `mark`, or the complete text without one. */
export const getTextBefore = (text: string, mark: string): string => {
  const index = text.indexOf(mark);
  return index < 0 ? text : text.slice(0, index);
};

/** Returns at most the first `maxLength` characters of a text, without half a surrogate pair at the end. */
export const truncateText = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : text.slice(0, maxLength).toWellFormed();

/** Returns a text, or an empty one for any other value. */
export const toTextOrEmpty = (value: unknown): string => (typeof value === 'string' ? value : '');

export const toNullIfEmpty = (text: string): string | null => (text === '' ? null : text);

/** Removes the common indentation of a template literal, the first line break and the space at its end. */
export const dedent = (text: string): string => {
  const lines = text.replace(/^\n/, '').trimEnd().split('\n');
  const indent = Math.min(...lines.filter((line) => line.trim() !== '').map((line) => line.search(/\S/)));
  return lines.map((line) => line.slice(indent)).join('\n');
};
