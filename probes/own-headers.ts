import { computeRunSpanId } from '../schemas/synthetic-telemetry.ts';
import type { Attempt } from './runner.ts';

/** Headers that identify the requests of an attempt, and link the target's telemetry to the run's span. */
export const createRunHeaders = ({
  checkId,
  location,
  traceId,
}: Pick<Attempt, 'checkId' | 'location' | 'traceId'>): Readonly<Record<string, string>> => ({
  'x-oiq-check': checkId,
  'x-oiq-location': location,
  traceparent: `00-${traceId}-${computeRunSpanId(traceId)}-01`,
});

export const userAgent = 'oiq-probe';
