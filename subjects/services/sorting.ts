/** What lists of services and endpoints can be sorted by. */
import type { Figures } from './figures.ts';

/** Figures that lists can be sorted by. */
export const figureSorts = ['requests', 'errors', 'errorRate', 'p50', 'p95', 'p99', 'apdex'] as const;
type FigureSort = (typeof figureSorts)[number];

/** One of the figures; undefined where it is not known. */
export const figureOf = (
  { requests, errors, errorRate, duration, apdex }: Figures,
  sort: FigureSort,
): number | undefined => {
  switch (sort) {
    case 'requests':
      return requests;
    case 'errors':
      return errors;
    case 'errorRate':
      return typeof errorRate === 'number' ? errorRate : undefined;
    case 'apdex':
      return apdex.value ?? undefined;
    default:
      return 'p50' in duration ? duration[sort] : undefined;
  }
};
