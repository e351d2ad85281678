/** Returns the non-empty lines of a text, trimmed. */
export const parseLines = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Formats name-value pairs, one per line, for example `team=shop` or `Accept: text/html`. */
export const formatPairs = (texts: Readonly<Record<string, string>>, separator: '=' | ':' = '='): string =>
  Object.entries(texts)
    .map(([name, text]) => `${name}${separator === ':' ? ': ' : separator}${text}`)
    .join('\n');
/** Parses name-value pairs. A line without the separator is a name with an empty value. */
export const parsePairs = (lines: string, separator: '=' | ':' = '='): Record<string, string> =>
  Object.fromEntries(
    parseLines(lines).map((line) => {
      const [name = '', ...text] = line.split(separator);
      return [name.trim(), text.join(separator).trim()];
    }),
  );
