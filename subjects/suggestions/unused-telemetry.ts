/**
 * Suggestions for metrics and attributes that cause costs although nothing reads them, and for log patterns with a
 * large share of all records
 */
import type { z } from 'zod';
import type { AttributeCost } from '../../queries/fields/costs.ts';
import type { MetricUses } from '../../queries/metrics/uses.ts';
import type { Suggestion } from './suggestion.ts';

export interface MetricCost {
  readonly metric: string;
  readonly series: number;
}

/** Minimum number of series for a suggestion */
const minSeries = 100;
const maxMetrics = 5;

export const suggestMetricRemoval = (
  metrics: readonly MetricCost[],
  uses: ReadonlyMap<string, z.output<typeof MetricUses>>,
): Suggestion[] => {
  const totalSeries = metrics.reduce((sum, { series }) => sum + series, 0);
  return metrics
    .filter(({ metric, series }) => {
      const metricUses = uses.get(metric)?.uses;
      return series >= minSeries && Array.isArray(metricUses) && metricUses.length === 0;
    })
    .slice(0, maxMetrics)
    .map(({ metric, series }) => {
      const searchedIn = uses
        .get(metric)
        ?.searchedIn.map(({ what, documents }) => `${documents} ${what}`)
        .join(', ');
      return {
        kind: 'unread-metric',
        subject: metric,
        title: `Stop sending ${metric}`,
        weight: series,
        evidence: `${metric} has ${series} series of the last day, and none of ${searchedIn} uses it; queries of other programs are not known here`,
        effect: `${series} of ${totalSeries} series of the largest metrics are no longer stored; drop it at the source: in a collector with a filter processor, \`metric: ['name == ${JSON.stringify(metric)}']\``,
        request: null,
      };
    });
};

/**
 * OpenTelemetry namespaces: the platform reads many of their attributes itself, and people use them without any
 * document that names them
 */
const standardNamespaces =
  /^(?:_|(?:http|url|net|network|server|client|peer|source|destination|db|rpc|messaging|faas|graphql|k8s|container|host|os|process|service|cloud|deployment|telemetry|otel|code|thread|exception|error|event|log|user|enduser|user_agent|session|gen_ai|aws|gcp|azure|feature_flag|file|browser|device|geo|tls)\b)/;
const minShare = 0.05;
const minScannedRecords = 10_000;
const maxAttributes = 3;

/** Returns large custom attributes, which may be suggested for removal. */
export const findLargeAttributes = (
  scannedRecords: number,
  costs: readonly AttributeCost[],
): readonly AttributeCost[] =>
  scannedRecords < minScannedRecords
    ? []
    : costs.filter(({ key, share }) => share >= minShare && !standardNamespaces.test(key));

/**
 * Returns suggestions for unused attributes. `unreferenced` contains those that no document names, and the examined
 * documents.
 */
export const suggestAttributeRemoval = (
  signal: 'logs' | 'traces',
  scannedRecords: number,
  costs: readonly AttributeCost[],
  unreferenced: { readonly keys: readonly string[]; readonly scannedText: string },
): Suggestion[] => {
  const [records, context] = signal === 'logs' ? ['log records', 'log'] : ['spans', 'span'];
  return findLargeAttributes(scannedRecords, costs)
    .filter(({ key }) => unreferenced.keys.includes(key))
    .slice(0, maxAttributes)
    .map(({ key, share, recordShare }) => ({
      kind: 'unread-attribute',
      subject: `${signal} ${key}`,
      weight: Math.round(1000 * share),
      title: `Stop sending the attribute ${key} with ${records}`,
      evidence: `${key} is ${Math.round(100 * share)} % of the texts and attributes of ${scannedRecords} ${records} of the last day, ${Math.round(100 * recordShare)} % of which have it, and none of ${unreferenced.scannedText} uses it; manual searches are not known here`,
      effect: `${records} are up to ${Math.round(100 * share)} % smaller; remove it at the source: in a collector with a transform processor, \`context: ${context}\`, \`delete_key(attributes, ${JSON.stringify(key)})\``,
      request: null,
    }));
};

export interface PatternCost {
  readonly id: string;
  readonly service: string;
  readonly template: string;
  readonly records: number;
}

const minRecords = 10_000;
const minPatternShare = 0.2;
const maxPatterns = 3;

/** Returns suggestions for log patterns. `totalRecords` is the number of records in the same period. */
export const suggestPatternReduction = (patterns: readonly PatternCost[], totalRecords: number): Suggestion[] =>
  patterns
    .filter(({ records }) => records >= minRecords && records >= minPatternShare * totalRecords)
    .slice(0, maxPatterns)
    .map(({ id, service, template, records }) => ({
      kind: 'log-pattern',
      subject: id,
      title: `Reduce one log pattern of ${service}`,
      weight: records,
      evidence: `${records} of ${totalRecords} records of the last day (${Math.round((100 * records) / totalRecords)} %), none of them a warning or an error, match one pattern: ${template.slice(0, 200).toWellFormed()}`,
      effect: `up to ${Math.round((100 * records) / totalRecords)} % fewer log records; raise the level of its logger at the source, or sample it`,
      request: null,
    }));
