/** Splits the series of a tenant into values that fit into messages. */
import type { RecordedSamples, RecordedSeries } from '../../schemas/recorded-samples.ts';

/** Maximum number of characters of series in one value, because a message holds one megabyte. */
const maxPartLength = 128 * 1024;

/**
 * Returns the samples of one time, in parts. Samples with one name share a part where possible, because the name
 * decides where the series are stored.
 */
export const splitSamples = (
  origin: Pick<RecordedSamples, 'tenantId' | 'projectId' | 'atMs'>,
  series: readonly RecordedSeries[],
): RecordedSamples[] =>
  [...Map.groupBy(series, ({ labels }) => labels['__name__'])].flatMap(([, sameNameSeries]) => {
    const parts: RecordedSeries[][] = [[]];
    let size = 0;
    for (const item of sameNameSeries) {
      const length = JSON.stringify(item).length;
      if (size > 0 && size + length > maxPartLength) {
        parts.push([]);
        size = 0;
      }
      size += length;
      parts.at(-1)?.push(item);
    }
    return parts.map((part) => ({ ...origin, series: part }));
  });
