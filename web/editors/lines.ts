/** Returns the non-empty lines of a text, trimmed. */
export const parseLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Parses name-value pairs, one per line, such as `team=shop`. A line without `=` is a name with an empty value. */
export const parsePairs = (lines: string): Record<string, string> =>
  Object.fromEntries(
    parseLines(lines).map((line) => {
      const [name = '', ...text] = line.split('=');
      return [name.trim(), text.join('=').trim()];
    }),
  );
