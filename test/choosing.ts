/** Which files of tests run. */

/** All that a whole run has. */
export const everySuite: readonly string[] = ['test/{architecture,contract,cases,security,end-to-end}/**/*.test.ts'];

/** The files that have one of the words in their path. */
export const filesOf = (words: readonly string[], files: readonly string[]): string[] => {
  const matches = (word: string): string[] => files.filter((path) => path.includes(word.replace(/^\.\//, '')));
  const unknown = words.find((word) => matches(word).length === 0);
  if (unknown !== undefined) throw new Error(`no file of tests has "${unknown}" in its path`);
  return [...new Set(words.flatMap(matches))];
};
