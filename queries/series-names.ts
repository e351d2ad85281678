/** Names of series for people: by a template, or by the labels in which the series differ. */
import type { Result } from './result.ts';

type SeriesName = Pick<Result['series'][number], 'name' | 'labels'>;

const formatAllLabels = ({ name, labels }: SeriesName): string => {
  const labelTexts = Object.entries(labels).map(([label, value]) => `${label}=${JSON.stringify(value)}`);
  return labelTexts.length === 0 ? name : `${name}{${labelTexts.join(', ')}}`;
};

/**
 * Returns a name for each series: the values of the labels in which they differ, and their metric if that differs.
 * Series that are equal in them get all their labels.
 */
export const nameSeries = (series: readonly SeriesName[]): readonly string[] => {
  const [first] = series;
  if (first === undefined) return [];
  if (series.length === 1) return [Object.values(first.labels).join(' ') || first.name];
  const labelNames = [...new Set(series.flatMap(({ labels }) => Object.keys(labels)))];
  const differing = labelNames.filter((label) => series.some(({ labels }) => labels[label] !== first.labels[label]));
  const namesDiffer = series.some(({ name }) => name !== first.name);
  const names = series.map(({ name, labels }) =>
    [...(namesDiffer ? [name] : []), ...differing.map((label) => labels[label] || `no ${label}`)].join(' '),
  );
  return new Set(names).size === series.length ? names : series.map(formatAllLabels);
};

/** Replaces placeholders such as `{{service}}` with the labels of a series. */
const fillLegend = (legend: string, labels: SeriesName['labels']): string =>
  legend.replace(/\{\{([^{}]{1,512})\}\}/g, (_, label: string) => labels[label.trim()] ?? '');

/** Returns the names of series: by the legend template, or by `nameSeries` if the template is empty or automatic. */
export const nameByLegend = (series: readonly SeriesName[], legend: string): readonly string[] =>
  legend === '' || legend.startsWith('__')
    ? nameSeries(series)
    : series.map(({ labels }) => fillLegend(legend, labels));
