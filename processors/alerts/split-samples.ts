/** Splits the series of a tenant into values that fit into messages. */
import { splitIntoParts } from '../../runtime/message-parts.ts';
import type { RecordedSamples, RecordedSeries } from '../../schemas/recorded-samples.ts';

/**
 * Returns the samples of one time, in parts. Samples with one name share a part where possible, because the name
 * decides where the series are stored.
 */
export const splitSamples = (
  origin: Pick<RecordedSamples, 'tenantId' | 'projectId' | 'atMs'>,
  series: readonly RecordedSeries[],
): RecordedSamples[] =>
  [...Map.groupBy(series, ({ labels }) => labels['__name__']).values()].flatMap((sameNameSeries) =>
    splitIntoParts(sameNameSeries).map((part) => ({ ...origin, series: part })),
  );
