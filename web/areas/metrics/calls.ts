/** API calls of the metrics area */
import type { forecastSeries } from '../../../api/groups/ai/forecast.ts';
import type { showCardinality } from '../../../api/groups/metrics/cardinality.ts';
import type { listMetrics } from '../../../api/groups/metrics/list.ts';
import type { queryMetrics } from '../../../api/groups/metrics/query.ts';
import { type Answered, callOf, type Sent } from '../../client/call.ts';

export const metricsCall = callOf<typeof listMetrics>('GET', '/api/metrics');
export const cardinalityCall = callOf<typeof showCardinality>('GET', '/api/metrics/cardinality');
export const queryMetricsCall = callOf<typeof queryMetrics>('POST', '/api/metrics/query');
export const forecastCall = callOf<typeof forecastSeries>('POST', '/api/ai/forecast');

export type Metric = Answered<typeof listMetrics>['items'][number];
export type ForecastSeries = Answered<typeof forecastSeries>['series'][number];
export type MetricQueryBody = NonNullable<Sent<typeof queryMetrics>['body']>['queries'][string];
