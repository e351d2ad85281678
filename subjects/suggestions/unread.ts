/** Metrics that cost and that nothing reads, and log patterns that are much of all records. */
import type { z } from 'zod';
import type { MetricUses } from '../../queries/metrics/uses.ts';
import type { Suggestion } from './suggestion.ts';

export interface MetricCost {
  readonly metric: string;
  readonly series: number;
}

/** Fewer series are not worth a word. */
const leastSeries = 100;
const mostMetrics = 5;

export const unreadMetricSuggestions = (
  metrics: readonly MetricCost[],
  uses: ReadonlyMap<string, z.output<typeof MetricUses>>,
): Suggestion[] => {
  const all = metrics.reduce((sum, { series }) => sum + series, 0);
  return metrics
    .filter(({ metric, series }) => {
      const found = uses.get(metric)?.uses;
      return series >= leastSeries && Array.isArray(found) && found.length === 0;
    })
    .slice(0, mostMetrics)
    .map(({ metric, series }) => {
      const lookedAt = uses
        .get(metric)
        ?.lookedAt.map(({ what, documents }) => `${documents} ${what}`)
        .join(', ');
      return {
        ...{ kind: 'unread-metric', subject: metric, title: `Stop sending ${metric}`, weight: series },
        evidence: `${metric} has ${series} series of the last day, and none of ${lookedAt} reads it; queries of other programs are not known here`,
        effect: `${series} of ${all} series of the largest metrics are not stored any more; where it is sent, drop it: in a collector with a filter processor, \`metric: ['name == ${JSON.stringify(metric)}']\``,
        request: null,
      };
    });
};

export interface PatternCost {
  readonly id: string;
  readonly service: string;
  readonly template: string;
  readonly records: number;
}

const leastRecords = 10_000;
const largePart = 0.2;
const mostPatterns = 3;

/** `all`: records of the same time. */
export const patternSuggestions = (patterns: readonly PatternCost[], all: number): Suggestion[] =>
  patterns
    .filter(({ records }) => records >= leastRecords && records >= largePart * all)
    .slice(0, mostPatterns)
    .map(({ id, service, template, records }) => ({
      ...{ kind: 'log-pattern', subject: id, title: `Write less of one log pattern of ${service}`, weight: records },
      evidence: `${records} of ${all} records of the last day (${Math.round((100 * records) / all)} %), none of them a warning or an error, are of one pattern: ${template.slice(0, 200).toWellFormed()}`,
      effect: `up to ${Math.round((100 * records) / all)} % fewer log records; where it is written, raise the level of its logger, or sample it`,
      request: null,
    }));
