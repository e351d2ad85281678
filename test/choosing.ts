/** Which files of tests run. */

/** All that a whole run has. */
export const everySuite: readonly string[] = ['test/{architecture,contract,cases,security,end-to-end}/**/*.test.ts'];

/** Suites of the API that run over the engine in the process run over a server and over shards, too. */
const served = /-(?:served|sharded)\.test\.ts$/;

/**
 * What a whole run leaves out: it has each suite of the API over the engine in the process, and over a server or over shards, which changes
 * from suite to suite and from part to part. Nothing, where all is one part.
 */
export const leftOut = (
  files: readonly string[],
  { part, of }: { readonly part: number; readonly of: number },
): string[] => {
  const suites = [
    ...new Set(files.filter((path) => served.test(path)).map((path) => path.replace(served, ''))),
  ].toSorted();
  return files.filter((path) => {
    const suite = suites.indexOf(path.replace(served, ''));
    if (of === 1 || !served.test(path)) return false;
    return (suite + part) % 2 === (path.includes('-sharded') ? 0 : 1);
  });
};

/** The files that have one of the words in their path. */
export const filesOf = (words: readonly string[], files: readonly string[]): string[] => {
  const matches = (word: string): string[] => files.filter((path) => path.includes(word.replace(/^\.\//, '')));
  const unknown = words.find((word) => matches(word).length === 0);
  if (unknown !== undefined) throw new Error(`no file of tests has "${unknown}" in its path`);
  return [...new Set(words.flatMap(matches))];
};
