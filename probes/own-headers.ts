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

/** Returns headers by their names in lower case, as probes add to them. */
export const lowerCaseNames = (headers: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
