/** The lines of a text that say something, without the spaces around them. */
export const linesIn = (text: string): string[] =>
  text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');

/** Texts by name, a line for each: `team=shop`. */
export const pairLines = (texts: Readonly<Record<string, string>>): string =>
  Object.entries(texts)
    .map(([name, text]) => `${name}=${text}`)
    .join('\n');
export const pairsIn = (lines: string): Record<string, string> =>
  Object.fromEntries(
    linesIn(lines).map((line) => {
      const at = line.indexOf('=');
      return at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
