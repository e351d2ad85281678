/** Formats anomalies */
import type { Anomaly } from './calls.ts';

/** Formats the series of an anomaly: `count service=cart`. */
export const formatSeries = ({ series: { name, labels } }: Pick<Anomaly, 'series'>): string =>
  [name, ...Object.entries(labels).map(([label, value]) => `${label}=${value}`)]
    .filter((part) => part !== '')
    .join(' ');

export const formatShare = (share: number): string => `${(100 * share).toFixed(1)} %`;
