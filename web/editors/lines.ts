/** The lines of a text that say something, without the spaces around them. */
export const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Texts by name, a line for each: `team=shop`, or `Accept: text/html`. */
export const pairLines = (texts: Readonly<Record<string, string>>, between: '=' | ':' = '='): string =>
  Object.entries(texts)
    .map(([name, text]) => `${name}${between === ':' ? ': ' : between}${text}`)
    .join('\n');
/** What such lines say. One without a value has an empty one. */
export const pairsIn = (lines: string, between: '=' | ':' = '='): Record<string, string> =>
  Object.fromEntries(
    linesIn(lines).map((line) => {
      const [name = '', ...text] = line.split(between);
      return [name.trim(), text.join(between).trim()];
    }),
  );
