import type { QueryReader } from '../../../queries/promql/query-reader.ts';
import type { Log } from '../../../schemas/ports/log.ts';
import type { SloFields } from '../../../subjects/slos/document.ts';
import { findPointIntervalWarnings } from '../../../subjects/slos/point-intervals.ts';

/** Returns the warnings of an SLO; none if they cannot be read, which is logged. */
export const readSloWarnings = (
  slo: SloFields,
  { reader, nowMs, log }: { readonly reader: QueryReader; readonly nowMs: number; readonly log: Pick<Log, 'warn'> },
): Promise<string[]> =>
  findPointIntervalWarnings(slo, reader, nowMs).catch((error: unknown) => {
    log.warn({ error: String(error), slo: slo.name }, 'cannot read the interval of points of an SLO');
    return [];
  });
