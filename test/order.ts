/** In which order files of tests begin, and up to when. */
import { hash } from 'node:crypto';
import { drawSeed } from './drawing.ts';

/** What takes longest, the longest first. */
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

/** Its place in that list; below 0 where it is not in it. */
const placeOf = (file: string): number => slowestFirst.findIndex((path) => file.includes(`test/${path}`));

const isPure = (file: string): boolean => /test\/(?:cases|architecture)\//.test(file);

/**
 * What needs no other process comes first, but for what takes long; then that, so that nobody waits for it in the end; then the others. Of
 * those each run draws the order, so that a machine on which some are left out leaves out others the next time.
 */
const rankOf = (file: string): number => {
  const place = placeOf(file);
  if (place >= 0) return 1 + place;
  return isPure(file) ? 0 : 1 + slowestFirst.length;
};

const drawnOf = (file: string): string => hash('md5', `${drawSeed} ${file}`);

/** For `sortTestFiles` of ava. */
export const inOrder = (one: string, other: string): number =>
  rankOf(one) - rankOf(other) || drawnOf(one).localeCompare(drawnOf(other));

/** Minutes of a whole run after which no file begins: on a machine that is slow for an hour a run is to end while it is of use. */
export const maxMinutes = Number(process.env['TEST_MINUTES'] ?? 45);

/** … and up to when this file begins: what takes long even sooner. */
export const latestMinutes = (file: string): number => (placeOf(file) < 0 ? maxMinutes : (2 * maxMinutes) / 3);
