/** What the area of metrics asks. */
import type { alertRuleResource } from '../../../api/groups/alerts/alert-rule.ts';
import type { listMetrics } from '../../../api/groups/metrics/list.ts';
import type { queryMetrics } from '../../../api/groups/metrics/query.ts';
import type { AlertRuleFields } from '../../../subjects/alerts/rule.ts';
import { type Answered, callOf, creationOf, type Sent } from '../../client/call.ts';

export const metricsCall = callOf<typeof listMetrics>('GET', '/api/metrics');
export const queryCall = callOf<typeof queryMetrics>('POST', '/api/metrics/query');
/** What makes a rule of a question. */
export const ruleCall = creationOf<typeof alertRuleResource, typeof AlertRuleFields>('/api/alerts/rules');

export type Metric = Answered<typeof listMetrics>['items'][number];
export type MetricQuestion = NonNullable<Sent<typeof queryMetrics>['body']>['queries'][string];
