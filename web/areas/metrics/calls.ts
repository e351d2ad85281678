/** API calls of the metrics area */
import type { forecastSeries } from '../../../api/groups/ai/forecast.ts';
import type { showCardinality } from '../../../api/groups/metrics/cardinality.ts';
import type { listMetrics } from '../../../api/groups/metrics/list.ts';
import type { queryMetrics } from '../../../api/groups/metrics/query.ts';
import { type CallInput, declareCall, type ResponseBody } from '../../client/call.ts';

export const listMetricsCall = declareCall<typeof listMetrics>('GET', '/api/metrics');
export const cardinalityCall = declareCall<typeof showCardinality>('GET', '/api/metrics/cardinality');
export const queryMetricsCall = declareCall<typeof queryMetrics>('POST', '/api/metrics/query');
export const forecastCall = declareCall<typeof forecastSeries>('POST', '/api/ai/forecast');

export type Metric = ResponseBody<typeof listMetrics>['items'][number];
export type ForecastSeries = ResponseBody<typeof forecastSeries>['series'][number];
export type MetricQueryBody = NonNullable<CallInput<typeof queryMetrics>['body']>['queries'][string];
