/** Selects the test files of a run. */
import { type Commit, createPartSelector, type SelectPart } from './parts.ts';

/** All test files of a whole run. */
export const everySuite: readonly string[] = ['test/{architecture,contract,cases,security,end-to-end}/**/*.test.ts'];

/**
 * API suites that run on the embedded engine also run on a ClickHouse server and on shards: each variant in one of
 * this many runs.
 */
const servedRuns = 7;
const served = /-(?:served|sharded)\.test\.ts$/;

/**
 * The slowest suites, and in one of how many runs each has its turn: kills of processes, outages of servers, upgrades,
 * walks through the page, and suites with servers or installations of their own.
 * Kill suites split further by the same seed, in two or four parts, and shard suites by four. The numbers here are
 * coprime to those, otherwise some parts would never run.
 */
const rotatedSuites: readonly { readonly family: RegExp; readonly runsPerDraw: number }[] = [
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
 * Returns the files that a run excludes, which depends on its seed; none if `TEST_PARTS=1`. A run has every API suite
 * on the embedded engine, some of them on a server or on shards as well, and the rotated suites whose turn it is.
 */
export const listExcludedFiles = (files: readonly string[], draw: SelectPart): string[] => {
  const { part, of } = draw(servedRuns);
  if (of === 1) return [];
  const suiteOf = (path: string): string => path.replace(served, '');
  const suites = [...new Set(files.filter((path) => served.test(path)).map(suiteOf))].toSorted();
  const skipped = files.filter(
    (path) => served.test(path) && (suites.indexOf(suiteOf(path)) + part) % of !== (path.includes('-sharded') ? 1 : 0),
  );
  const waiting = rotatedSuites.flatMap(({ family, runsPerDraw }) => {
    const partDrawn = draw(runsPerDraw);
    return files
      .filter((path) => family.test(path) && !served.test(path))
      .toSorted()
      .filter((_, place) => (place + partDrawn.part) % partDrawn.of !== 0);
  });
  return [...skipped, ...waiting];
};

/**
 * Describes excluded files, each with the most recent of these commits whose runs include the file. The part of a
 * commit follows from its hash, so no file records it. A commit without a run is listed as well.
 */
export const describeExcludedFiles = (
  leftOutFiles: readonly string[],
  files: readonly string[],
  commits: readonly Commit[],
): string[] => {
  const leftOutByCommit = commits.map(({ seed }) => new Set(listExcludedFiles(files, createPartSelector(seed))));
  return leftOutFiles.map((path) => {
    const index = leftOutByCommit.findIndex((paths) => !paths.has(path));
    const { name } = commits[index] ?? {};
    return `${path}  ${name === undefined ? `not selected by the last ${commits.length} commits` : `selected by ${name}, ${index} commits before`}`;
  });
};

/** Returns the files whose path contains one of the words. */
export const filterFiles = (words: readonly string[], files: readonly string[]): string[] => {
  const matches = (word: string): string[] => files.filter((path) => path.includes(word.replace(/^\.\//, '')));
  const unknown = words.find((word) => matches(word).length === 0);
  if (unknown !== undefined) throw new Error(`no file of tests has "${unknown}" in its path`);
  return [...new Set(words.flatMap(matches))];
};
