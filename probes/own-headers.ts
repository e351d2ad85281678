import { randomBytes } from 'node:crypto';
import type { Attempt } from './runner.ts';

/** What names the requests of an attempt, and makes what a target tells of them part of the run's trace. */
export const ownHeadersOf = ({
  checkId,
  location,
  traceId,
}: Pick<Attempt, 'checkId' | 'location' | 'traceId'>): Readonly<Record<string, string>> => ({
  'x-oiq-check': checkId,
  'x-oiq-location': location,
  traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01`,
});

export const userAgent = 'oiq-probe';
