/**
 * Computes values of infrastructure items from series. Of several equivalent metrics, the first one with a value is
 * used.
 */
import { z } from 'zod';
import { type NumberOrReason, toKnownNumber, toUnknownNumber } from '../../queries/unknown-numbers.ts';
import type { Cell } from './cells.ts';

/** A text, or the reason why it is unknown */
export const KnownText = z.strictObject({
  value: z.string().nullable(),
  reason: z.string().nullable().describe('Why there is no value; `null` if there is one'),
});
export type KnownText = z.output<typeof KnownText>;

/** Returns the text of an attribute; unknown if there is none. */
export const toKnownText = (value: unknown, reason: string): KnownText =>
  value === undefined || value === null || value === ''
    ? { value: null, reason }
    : { value: String(value), reason: null };

/** A metric as a source of a value. Of several equivalent metrics, current names precede former ones. */
export interface Source {
  readonly metric: string;
  /** Latest value, or increase per second */
  readonly as: 'level' | 'rate';
  /** Restricts the source to cells with these labels */
  readonly where?: (labels: Readonly<Record<string, string>>) => boolean;
  /** Factor from the metric's unit to the unit of the result, such as 1e-9 for nanoseconds to seconds */
  readonly scale?: number;
}

type SourceOptions = Pick<Source, 'where' | 'scale'>;
export const createLevelSource = (metric: string, options: SourceOptions = {}): Source => ({
  metric,
  as: 'level',
  ...options,
});
export const createRateSource = (metric: string, options: SourceOptions = {}): Source => ({
  metric,
  as: 'rate',
  ...options,
});

/** Cells of one item, by metric */
export type CellsByMetric = ReadonlyMap<string, readonly Cell[]>;

/** Returns the cells of a source with their values. */
export const getSourceValues = (
  cells: CellsByMetric,
  source: Source,
): { readonly cell: Cell; readonly value: number }[] =>
  (cells.get(source.metric) ?? []).flatMap((cell) => {
    if (source.where !== undefined && !source.where(cell.labels)) return [];
    const value = source.as === 'level' ? cell.value : cell.rate;
    return value === undefined ? [] : [{ cell, value: value * (source.scale ?? 1) }];
  });

/** Returns the first source that has a value, with its values. */
export const findFirstAvailable = (cells: CellsByMetric, sources: readonly Source[]) => {
  for (const source of sources) {
    const values = getSourceValues(cells, source);
    if (values.length > 0) return values;
  }
  return undefined;
};

/** Returns the sum of the first source that has a value. */
export const sumValues = (cells: CellsByMetric, sources: readonly Source[]): number | undefined =>
  findFirstAvailable(cells, sources)?.reduce((sum, { value }) => sum + value, 0);

/** Returns the sum as a value; unknown with the reason if no source has a value. */
export const toKnownSum = (cells: CellsByMetric, sources: readonly Source[], reason: string): NumberOrReason =>
  toKnown(sumValues(cells, sources), reason);

/** Returns a value; unknown with the reason if there is no number. */
export const toKnown = (value: number | undefined, reason: string): NumberOrReason =>
  value === undefined || !Number.isFinite(value) ? toUnknownNumber(reason) : toKnownNumber(value);

/** Returns the ratio of two values, such as use and limit; unknown if either is unknown or the divisor is 0. */
export const toKnownRatio = (part: NumberOrReason, total: NumberOrReason): NumberOrReason => {
  if (part.value === null) return part;
  if (total.value === null) return total;
  return total.value > 0 ? toKnownNumber(part.value / total.value) : toUnknownNumber('the total is 0');
};

/** Returns whether only one counter point exists so far, so that there is no rate. */
export const hasOnePoint = (cells: CellsByMetric, sources: readonly Source[]): boolean =>
  sources.some(({ metric, as }) => as === 'rate' && cells.has(metric));

/** Returns the reason for a missing value: the metric was not received, or has too few points. */
export const explainMissing = (cells: CellsByMetric, sources: readonly Source[], reason: string): string =>
  hasOnePoint(cells, sources) ? 'there is only one point so far; a rate needs two' : reason;

/** Returns the metrics of sources whose rates are requested, without duplicates. */
export const listRateMetrics = (sources: Readonly<Record<string, readonly Source[]>>): string[] => [
  ...new Set(
    Object.values(sources)
      .flat()
      .filter(({ as }) => as === 'rate')
      .map(({ metric }) => metric),
  ),
];

/** Returns the metrics of sources, without duplicates. */
export const listSourceMetrics = (sources: Readonly<Record<string, readonly Source[]>>): string[] => [
  ...new Set(Object.values(sources).flatMap((sourceList) => sourceList.map(({ metric }) => metric))),
];
