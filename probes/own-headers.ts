import { runSpanId } from '../schemas/synthetic-telemetry.ts';
import type { Attempt } from './runner.ts';

/** What names the requests of an attempt, and puts what a target tells of them below the run's span. */
export const ownHeadersOf = ({
  checkId,
  location,
  traceId,
}: Pick<Attempt, 'checkId' | 'location' | 'traceId'>): Readonly<Record<string, string>> => ({
  'x-oiq-check': checkId,
  'x-oiq-location': location,
  traceparent: `00-${traceId}-${runSpanId(traceId)}-01`,
});

export const userAgent = 'oiq-probe';
