/** What the area of metrics asks. */
import type { showCardinality } from '../../../api/groups/metrics/cardinality.ts';
import type { listMetrics } from '../../../api/groups/metrics/list.ts';
import type { queryMetrics } from '../../../api/groups/metrics/query.ts';
import { type Answered, callOf, type Sent } from '../../client/call.ts';

export const metricsCall = callOf<typeof listMetrics>('GET', '/api/metrics');
export const cardinalityCall = callOf<typeof showCardinality>('GET', '/api/metrics/cardinality');
export const queryCall = callOf<typeof queryMetrics>('POST', '/api/metrics/query');

export type Metric = Answered<typeof listMetrics>['items'][number];
export type MetricQuestion = NonNullable<Sent<typeof queryMetrics>['body']>['queries'][string];
