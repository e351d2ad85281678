/** Returns the non-empty lines of a text, trimmed. */
export const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Formats name-value pairs, one per line: `team=shop`, or `Accept: text/html`. */
export const pairLines = (texts: Readonly<Record<string, string>>, between: '=' | ':' = '='): string =>
  Object.entries(texts)
    .map(([name, text]) => `${name}${between === ':' ? ': ' : between}${text}`)
    .join('\n');
/** Parses name-value pairs; a name without a value has an empty one. */
export const pairsIn = (lines: string, between: '=' | ':' = '='): Record<string, string> =>
  Object.fromEntries(
    linesIn(lines).map((line) => {
      const [name = '', ...text] = line.split(between);
      return [name.trim(), text.join(between).trim()];
    }),
  );
