/** What the area of alerts asks and changes. */
import type { alertRuleResource } from '../../../api/groups/alerts/alert-rule.ts';
import type { acknowledgeAlert, listAlerts } from '../../../api/groups/alerts/alerts.ts';
import type { listEvaluations } from '../../../api/groups/alerts/history.ts';
import type { expireSilence, silenceResource } from '../../../api/groups/alerts/silences.ts';
import type { SilenceFields } from '../../../schemas/resources/silence.ts';
import { type Answered, callOf, creationOf, listOf, type ViewOf } from '../../client/call.ts';

export const alertsCall = callOf<typeof listAlerts>('GET', '/api/alerts');
export const acknowledgeCall = callOf<typeof acknowledgeAlert>('POST', '/api/alerts/{id}/acknowledge');
export const evaluationsCall = callOf<typeof listEvaluations>('GET', '/api/alerts/rules/{id}/evaluations');
export const rulesCall = listOf<typeof alertRuleResource>('/api/alerts/rules');
export const silencesCall = listOf<typeof silenceResource>('/api/alerts/silences');
export const silenceCall = creationOf<typeof silenceResource, typeof SilenceFields>('/api/alerts/silences');
export const expireCall = callOf<typeof expireSilence>('DELETE', '/api/alerts/silences/{id}');

export type Alert = Answered<typeof listAlerts>['items'][number];
export type Rule = ViewOf<typeof alertRuleResource>;
export type Silence = ViewOf<typeof silenceResource>;
