/** Aggregations of the builder across series */

const acrossSeries = ['sum', 'avg', 'min', 'max', 'count', 'none'] as const;
export type SeriesAggregation = (typeof acrossSeries)[number];
export const isSeriesAggregation = (text: string): text is SeriesAggregation =>
  acrossSeries.some((name) => name === text);

/** Titles of the aggregations across series */
export const seriesAggregationTitles: Readonly<Record<SeriesAggregation, string>> = {
  sum: 'sum',
  avg: 'average',
  min: 'minimum',
  max: 'maximum',
  count: 'count of series',
  none: 'none: each series',
};
