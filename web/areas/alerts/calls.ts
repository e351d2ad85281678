/** What the area of alerts asks and changes. */
import type { z } from 'zod';
import type { alertRuleResource } from '../../../api/groups/alerts/alert-rule.ts';
import type { acknowledgeAlert, listAlerts } from '../../../api/groups/alerts/alerts.ts';
import type { getBacktest, startBacktest } from '../../../api/groups/alerts/backtests.ts';
import type { listEvaluations } from '../../../api/groups/alerts/history.ts';
import type { getAlertRouting, setAlertRouting, testAlertRouting } from '../../../api/groups/alerts/routing.ts';
import type { expireSilence, previewSilence, silenceResource } from '../../../api/groups/alerts/silences.ts';
import type { previewAlertRule } from '../../../api/groups/alerts/try-rule.ts';
import type { maintenanceWindowResource } from '../../../api/maintenance-windows/maintenance-window.ts';
import type { MaintenanceWindowFields } from '../../../schemas/resources/maintenance-window.ts';
import type { SilenceFields } from '../../../schemas/resources/silence.ts';
import type { AlertRuleFields } from '../../../subjects/alerts/rule.ts';
import {
  type Answered,
  callOf,
  creationOf,
  listOf,
  readingOf,
  removalOf,
  replacementOf,
  type ViewOf,
} from '../../client/call.ts';

export const alertsCall = callOf<typeof listAlerts>('GET', '/api/alerts');
export const acknowledgeCall = callOf<typeof acknowledgeAlert>('POST', '/api/alerts/{id}/acknowledge');
export const evaluationsCall = callOf<typeof listEvaluations>('GET', '/api/alerts/rules/{id}/evaluations');
export const rulesCall = listOf<typeof alertRuleResource>('/api/alerts/rules');
export const ruleCall = readingOf<typeof alertRuleResource>('/api/alerts/rules/{id}');
export const createRuleCall = creationOf<typeof alertRuleResource, typeof AlertRuleFields>('/api/alerts/rules');
export const replaceRuleCall = replacementOf<typeof alertRuleResource, typeof AlertRuleFields>(
  '/api/alerts/rules/{id}',
);
export const removeRuleCall = removalOf('/api/alerts/rules/{id}');
export const previewCall = callOf<typeof previewAlertRule>('POST', '/api/alerts/rules/preview');
export const startBacktestCall = callOf<typeof startBacktest>('POST', '/api/v2/alerts/backtests');
export const backtestCall = callOf<typeof getBacktest>('GET', '/api/v2/alerts/backtests/{id}');
export const routingCall = callOf<typeof getAlertRouting>('GET', '/api/v2/alerts/routing');
export const setRoutingCall = callOf<typeof setAlertRouting>('PUT', '/api/v2/alerts/routing');
export const routingTestCall = callOf<typeof testAlertRouting>('POST', '/api/v2/alerts/routing/test');
export const silencesCall = listOf<typeof silenceResource>('/api/alerts/silences');
export const silenceCall = creationOf<typeof silenceResource, typeof SilenceFields>('/api/alerts/silences');
export const mutedCall = callOf<typeof previewSilence>('POST', '/api/alerts/silences/preview');
export const expireCall = callOf<typeof expireSilence>('DELETE', '/api/alerts/silences/{id}');
export const windowsCall = listOf<typeof maintenanceWindowResource>('/api/maintenance-windows');
export const createWindowCall = creationOf<typeof maintenanceWindowResource, typeof MaintenanceWindowFields>(
  '/api/maintenance-windows',
);
export const replaceWindowCall = replacementOf<typeof maintenanceWindowResource, typeof MaintenanceWindowFields>(
  '/api/maintenance-windows/{id}',
);

export type MaintenanceWindow = ViewOf<typeof maintenanceWindowResource>;
export type Alert = Answered<typeof listAlerts>['items'][number];
export type Rule = ViewOf<typeof alertRuleResource>;
export type Silence = ViewOf<typeof silenceResource>;
/** What is written of a rule. */
export type WrittenRule = z.input<typeof AlertRuleFields>;
export type Preview = Answered<typeof previewAlertRule>;
export type Backtest = Answered<typeof getBacktest>;
