/** API calls of the alerts area */
import type { z } from 'zod';
import type { alertRuleResource } from '../../../api/groups/alerts/alert-rule.ts';
import type { acknowledgeAlert, listAlerts, listRuleGroups } from '../../../api/groups/alerts/alerts.ts';
import type { getBacktest, startBacktest } from '../../../api/groups/alerts/backtests.ts';
import type { listAlertHistory, listEvaluations } from '../../../api/groups/alerts/history.ts';
import type { recordingGroupResource } from '../../../api/groups/alerts/recording-group.ts';
import type {
  getAlertRouting,
  importAlertRouting,
  setAlertRouting,
  testAlertRouting,
} from '../../../api/groups/alerts/routing.ts';
import type { exportAlertRules, importAlertRules } from '../../../api/groups/alerts/rule-files.ts';
import type { expireSilence, previewSilence, silenceResource } from '../../../api/groups/alerts/silences.ts';
import type { previewAlertRule, testAlertRule } from '../../../api/groups/alerts/try-rule.ts';
import type { maintenanceWindowResource } from '../../../api/groups/incidents/maintenance-window.ts';
import type { MaintenanceWindowFields } from '../../../schemas/resources/maintenance-window.ts';
import type { SilenceFields } from '../../../schemas/resources/silence.ts';
import type { RecordingGroupFields } from '../../../subjects/alerts/recording/group.ts';
import type { AlertRuleFields } from '../../../subjects/alerts/rule.ts';
import {
  type Answered,
  callOf,
  changeOf,
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
export const groupsCall = callOf<typeof listRuleGroups>('GET', '/api/v2/alerts/rules/{id}/groups');
export const rulesCall = listOf<typeof alertRuleResource>('/api/alerts/rules');
export const ruleCall = readingOf<typeof alertRuleResource>('/api/alerts/rules/{id}');
export const createRuleCall = creationOf<typeof alertRuleResource, typeof AlertRuleFields>('/api/alerts/rules');
export const replaceRuleCall = replacementOf<typeof alertRuleResource, typeof AlertRuleFields>(
  '/api/alerts/rules/{id}',
);
export const removeRuleCall = removalOf('/api/alerts/rules/{id}');
export const changeRuleCall = changeOf<typeof alertRuleResource, { readonly enabled: boolean }>(
  '/api/alerts/rules/{id}',
);
export const testRuleCall = callOf<typeof testAlertRule>('POST', '/api/alerts/rules/{id}/test');
export const importRulesCall = callOf<typeof importAlertRules>('POST', '/api/alerts/rules/import');
export const exportRulesCall = callOf<typeof exportAlertRules>('GET', '/api/alerts/rules/export');
export const historyCall = callOf<typeof listAlertHistory>('GET', '/api/alerts/history');
export const recordingGroupsCall = listOf<typeof recordingGroupResource>('/api/alerts/recording-groups');
export const createRecordingGroupCall = creationOf<typeof recordingGroupResource, typeof RecordingGroupFields>(
  '/api/alerts/recording-groups',
);
export const replaceRecordingGroupCall = replacementOf<typeof recordingGroupResource, typeof RecordingGroupFields>(
  '/api/alerts/recording-groups/{id}',
);
export const previewRuleCall = callOf<typeof previewAlertRule>('POST', '/api/alerts/rules/preview');
export const startBacktestCall = callOf<typeof startBacktest>('POST', '/api/v2/alerts/backtests');
export const backtestCall = callOf<typeof getBacktest>('GET', '/api/v2/alerts/backtests/{id}');
export const routingCall = callOf<typeof getAlertRouting>('GET', '/api/v2/alerts/routing');
export const importRoutingCall = callOf<typeof importAlertRouting>('POST', '/api/v2/alerts/routing/import');
export const setRoutingCall = callOf<typeof setAlertRouting>('PUT', '/api/v2/alerts/routing');
export const routingTestCall = callOf<typeof testAlertRouting>('POST', '/api/v2/alerts/routing/test');
export const silencesCall = listOf<typeof silenceResource>('/api/alerts/silences');
export const createSilenceCall = creationOf<typeof silenceResource, typeof SilenceFields>('/api/alerts/silences');
export const replaceSilenceCall = replacementOf<typeof silenceResource, typeof SilenceFields>(
  '/api/alerts/silences/{id}',
);
export const previewSilenceCall = callOf<typeof previewSilence>('POST', '/api/alerts/silences/preview');
export const expireSilenceCall = callOf<typeof expireSilence>('DELETE', '/api/alerts/silences/{id}');
export const maintenanceWindowsCall = listOf<typeof maintenanceWindowResource>('/api/maintenance-windows');
export const createMaintenanceWindowCall = creationOf<typeof maintenanceWindowResource, typeof MaintenanceWindowFields>(
  '/api/maintenance-windows',
);
export const replaceMaintenanceWindowCall = replacementOf<
  typeof maintenanceWindowResource,
  typeof MaintenanceWindowFields
>('/api/maintenance-windows/{id}');

export type RecordingGroup = ViewOf<typeof recordingGroupResource>;
/** Writable fields of a recording rule group */
export type RecordingGroupInput = z.input<typeof RecordingGroupFields>;
export type MaintenanceWindow = ViewOf<typeof maintenanceWindowResource>;
export type Alert = Answered<typeof listAlerts>['items'][number];
export type Rule = ViewOf<typeof alertRuleResource>;
export type Silence = ViewOf<typeof silenceResource>;
/** Writable fields of an alert rule */
export type RuleInput = z.input<typeof AlertRuleFields>;
export type Preview = Answered<typeof previewAlertRule>;
export type Backtest = Answered<typeof getBacktest>;
