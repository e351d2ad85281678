/** Which files of tests run. */
import { type Commit, type DrawPart, drawnPartBy } from './drawing.ts';

/** All that a whole run has. */
export const everySuite: readonly string[] = ['test/{architecture,contract,cases,security,end-to-end}/**/*.test.ts'];

/** Suites of the API that run over the engine in the process run over a server and over shards, too: each of the two in one of so many runs. */
const servedRuns = 7;
const served = /-(?:served|sharded)\.test\.ts$/;

/**
 * What takes longest, and of how many runs each has its turn in one: processes that are killed, servers that go away, an upgrade; walks
 * through the page; and what has whole servers or installations of its own.
 * Suites of kills draw within themselves, by the same seed, one part of two or of four, and those over shards how many there are by four: turns
 * share no factor with that, or they would never draw the others.
 */
const drawnSuites: readonly { readonly family: RegExp; readonly runsPerDraw: number }[] = [
  {
    family:
      /\/(?:[a-z-]+-kills|chart-processes|check-lag|escalation-[a-z]+|processors-once-[a-z]+|reliability-[a-z-]+)\.test\.ts$/,
    runsPerDraw: 11,
  },
  { family: /end-to-end\/page-[a-z-]+\.test\.ts$/, runsPerDraw: 7 },
  {
    family:
      /\/(?:anomaly-detectors|api-outages|browser-sdks|bus-kafka-(?:brokers|failures|security)|erased-bytes-servers|columns-(?:cluster|storage|placements|replicas|replicated)|counters-redis-several|dashboards-command|deliveries-kafka|demo-incident|former-groups|live-tail-kafka|operations-success-servers|reads-bounded-mongodb|receivers-usage|resources-mongodb|rules-command|running|schedules|schedules-processes|search-agreement|end-to-end\/image|ingest-without-mongodb|schemathesis|slo-backtests|slos\/counters|starting|starting-without-stores|store-members|synthetics|usage-reconciliation)\.test\.ts$/,
    runsPerDraw: 7,
  },
];

/**
 * What a whole run leaves out, which changes with the draw; nothing, where all is one part. It has each suite of the API over the
 * engine in the process, half of them over a server or over shards as well, and of the suites that run in turns those whose turn it is.
 */
export const leftOut = (files: readonly string[], draw: DrawPart): string[] => {
  const { part, of } = draw(servedRuns);
  if (of === 1) return [];
  const suiteOf = (path: string): string => path.replace(served, '');
  const suites = [...new Set(files.filter((path) => served.test(path)).map(suiteOf))].toSorted();
  const skipped = files.filter(
    (path) => served.test(path) && (suites.indexOf(suiteOf(path)) + part) % of !== (path.includes('-sharded') ? 1 : 0),
  );
  const waiting = drawnSuites.flatMap(({ family, runsPerDraw }) => {
    const partDrawn = draw(runsPerDraw);
    return files
      .filter((path) => family.test(path) && !served.test(path))
      .toSorted()
      .filter((_, place) => (place + partDrawn.part) % partDrawn.of !== 0);
  });
  return [...skipped, ...waiting];
};

/**
 * Left-out files, each with the last of these commits whose runs have it. Which part a commit has follows from its hash, so
 * that no file records it. A commit that no run had is listed as well.
 */
export const describeLeftOut = (
  leftOutFiles: readonly string[],
  files: readonly string[],
  commits: readonly Commit[],
): string[] => {
  const leftOutByCommit = commits.map(({ seed }) => new Set(leftOut(files, drawnPartBy(seed))));
  return leftOutFiles.map((path) => {
    const index = leftOutByCommit.findIndex((paths) => !paths.has(path));
    const { name } = commits[index] ?? {};
    return `${path}  ${name === undefined ? `not selected by the last ${commits.length} commits` : `selected by ${name}, ${index} commits before`}`;
  });
};

/** The files that have one of the words in their path. */
export const filesOf = (words: readonly string[], files: readonly string[]): string[] => {
  const matches = (word: string): string[] => files.filter((path) => path.includes(word.replace(/^\.\//, '')));
  const unknown = words.find((word) => matches(word).length === 0);
  if (unknown !== undefined) throw new Error(`no file of tests has "${unknown}" in its path`);
  return [...new Set(words.flatMap(matches))];
};
