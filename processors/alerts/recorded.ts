/** Series of a tenant in values that messages can hold. */
import type { RecordedSamples, RecordedSeries } from '../../schemas/recorded-samples.ts';

/** Characters of the series of one value: a message takes a megabyte. */
const partSize = 128 * 1024;

/** The samples of one time, in parts. Those of one name stay together where they can: a name decides where its series lie. */
export const samplesOf = (
  of: Pick<RecordedSamples, 'tenantId' | 'projectId' | 'atMs'>,
  series: readonly RecordedSeries[],
): RecordedSamples[] =>
  [...Map.groupBy(series, ({ labels }) => labels['__name__'])].flatMap(([, own]) => {
    const parts: RecordedSeries[][] = [[]];
    let size = 0;
    for (const one of own) {
      const length = JSON.stringify(one).length;
      if (size > 0 && size + length > partSize) {
        parts.push([]);
        size = 0;
      }
      size += length;
      parts.at(-1)?.push(one);
    }
    return parts.map((part) => ({ ...of, series: part }));
  });
