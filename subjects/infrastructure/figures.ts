/** Figures of things from what their series say: the first source that has a value counts, whatever its sender calls it. */
import { z } from 'zod';
import { type Known, known, unknown } from '../../queries/unknown.ts';
import type { Cell } from './cells.ts';

/** A text, or why it is not known. */
export const KnownText = z.strictObject({
  value: z.string().nullable(),
  reason: z.string().nullable().describe('Why there is no value; null if there is one'),
});
export type KnownText = z.output<typeof KnownText>;

/** The text of an attribute; unknown where there is none. */
export const textOf = (value: unknown, reason: string): KnownText =>
  value === undefined || value === null || value === ''
    ? { value: null, reason }
    : { value: String(value), reason: null };

/** A metric that tells something. Of several that tell the same, the names of today stand first and former ones behind. */
export interface Source {
  readonly metric: string;
  /** Its latest value, or its increase a second. */
  readonly as: 'level' | 'rate';
  /** Only cells with these labels. */
  readonly where?: (labels: Readonly<Record<string, string>>) => boolean;
  /** What one of its units is in ours, such as 1e-9 seconds. */
  readonly scale?: number;
}

type Options = Pick<Source, 'where' | 'scale'>;
export const level = (metric: string, options: Options = {}): Source => ({ metric, as: 'level', ...options });
export const rate = (metric: string, options: Options = {}): Source => ({ metric, as: 'rate', ...options });

/** Cells of one thing, by metric. */
export type CellsByMetric = ReadonlyMap<string, readonly Cell[]>;

/** Cells of a source, and what each of them says. */
export const valuesOf = (cells: CellsByMetric, source: Source): { readonly cell: Cell; readonly value: number }[] =>
  (cells.get(source.metric) ?? []).flatMap((cell) => {
    if (source.where !== undefined && !source.where(cell.labels)) return [];
    const value = source.as === 'level' ? cell.level : cell.rate;
    return value === undefined ? [] : [{ cell, value: value * (source.scale ?? 1) }];
  });

/** The first source that says something, with what it says. */
export const firstOf = (cells: CellsByMetric, sources: readonly Source[]) => {
  for (const source of sources) {
    const values = valuesOf(cells, source);
    if (values.length > 0) return values;
  }
  return undefined;
};

/** The sum of the first source that says something. */
export const totalOf = (cells: CellsByMetric, sources: readonly Source[]): number | undefined =>
  firstOf(cells, sources)?.reduce((sum, { value }) => sum + value, 0);

/** The same as a figure; unknown for the reason where no source says anything. */
export const figureOf = (cells: CellsByMetric, sources: readonly Source[], reason: string): Known =>
  figure(totalOf(cells, sources), reason);

/** A figure; unknown for the reason where there is no number. */
export const figure = (value: number | undefined, reason: string): Known =>
  value === undefined || !Number.isFinite(value) ? unknown(reason) : known(value);

/** One figure against another, such as use against the limit; unknown where either is, or where the other is nothing. */
export const ratioOf = (part: Known, whole: Known): Known => {
  if (part.value === null) return part;
  if (whole.value === null) return whole;
  return whole.value > 0 ? known(part.value / whole.value) : unknown('it is a share of 0');
};

/** Whether there is only one counter point yet, so that no rate can be told. */
export const hasOnePoint = (cells: CellsByMetric, sources: readonly Source[]): boolean =>
  sources.some(({ metric, as }) => as === 'rate' && cells.has(metric));

/** The reason for a missing figure: no such metric came, or too few points of it. */
export const missing = (cells: CellsByMetric, sources: readonly Source[], reason: string): string =>
  hasOnePoint(cells, sources) ? 'there is one point so far; a rate needs two' : reason;

/** Metrics of sources of which increases a second are asked, each once. */
export const countersOf = (sources: Readonly<Record<string, readonly Source[]>>): string[] => [
  ...new Set(
    Object.values(sources)
      .flat()
      .filter(({ as }) => as === 'rate')
      .map(({ metric }) => metric),
  ),
];

/** Metrics of sources, each once. */
export const metricsOf = (sources: Readonly<Record<string, readonly Source[]>>): string[] => [
  ...new Set(Object.values(sources).flatMap((each) => each.map(({ metric }) => metric))),
];
