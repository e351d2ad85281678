/** The order in which test files start, and the latest time at which they may. */
import { hash } from 'node:crypto';
import { runSeed } from './parts.ts';

/** The slowest files, in descending order. */
const slowestFirst: readonly string[] = [
  'end-to-end/chart-processes',
  'contract/escalation-mongodb',
  'contract/processors-once-kafka',
  'contract/processors-once-segments',
  'end-to-end/reliability-outages',
  'end-to-end/schemathesis',
  'end-to-end/recording-kills',
  'end-to-end/reliability-cluster-kills',
  'end-to-end/alert-kills',
  'end-to-end/probe-kills',
  'end-to-end/check-kills',
  'end-to-end/check-lag',
  'end-to-end/reliability-dead-letter',
  'end-to-end/reliability-brokers',
  'end-to-end/page-cluster',
  'contract/reads-bounded-mongodb',
  'end-to-end/image',
  'cases/chart-rules',
  'security/isolation',
  'security/guards-removed',
  'contract/resources',
  'contract/schemas-hostile',
  'cases/dashboards/templates',
];

/** Returns the position in that list, or -1. */
const placeOf = (file: string): number => slowestFirst.findIndex((path) => file.includes(`test/${path}`));

const isPure = (file: string): boolean => /test\/(?:cases|architecture)\//.test(file);

const pickFraction = (file: string): number =>
  Number.parseInt(hash('md5', `${runSeed} ${file}`).slice(0, 8), 16) / 2 ** 32;

/**
 * Returns when a file starts, as a fraction of the order of all files. Slow files, most of which start clusters of
 * their own, are spread over the first two thirds, so that few run at the same time. Files without child processes
 * start in the first half, beside lint and types. Others follow in an order that depends on the commit, so that a slow
 * machine skips other files the next time.
 */
export const findStart = (file: string): number => {
  const place = placeOf(file);
  if (place >= 0) return 0.05 + (0.6 * place) / slowestFirst.length;
  return isPure(file) ? 0.5 * pickFraction(file) : 0.1 + 0.9 * pickFraction(file);
};

/** For `sortTestFiles` of ava. */
export const inOrder = (one: string, other: string): number =>
  findStart(one) - findStart(other) || one.localeCompare(other);

/** Minutes of a whole run after which no file starts, so that a run on a slow machine still ends in time. */
export const maxMinutes = Number(process.env['TEST_MINUTES'] ?? 32);

/** The same limit for one file: slow files have an earlier one. */
export const latestMinutes = (file: string): number => (placeOf(file) < 0 ? maxMinutes : (2 * maxMinutes) / 3);
