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
  declareCall,
  declareCreateCall,
  declareDeleteCall,
  declareListCall,
  declareReadCall,
  declareReplaceCall,
  declareUpdateCall,
  type ResourceView,
  type ResponseBody,
} from '../../client/call.ts';

export const alertsCall = declareCall<typeof listAlerts>('GET', '/api/alerts');
export const acknowledgeCall = declareCall<typeof acknowledgeAlert>('POST', '/api/alerts/{id}/acknowledge');
export const evaluationsCall = declareCall<typeof listEvaluations>('GET', '/api/alerts/rules/{id}/evaluations');
export const groupsCall = declareCall<typeof listRuleGroups>('GET', '/api/v2/alerts/rules/{id}/groups');
export const rulesCall = declareListCall<typeof alertRuleResource>('/api/alerts/rules');
export const ruleCall = declareReadCall<typeof alertRuleResource>('/api/alerts/rules/{id}');
export const createRuleCall = declareCreateCall<typeof alertRuleResource, typeof AlertRuleFields>('/api/alerts/rules');
export const replaceRuleCall = declareReplaceCall<typeof alertRuleResource, typeof AlertRuleFields>(
  '/api/alerts/rules/{id}',
);
export const deleteRuleCall = declareDeleteCall('/api/alerts/rules/{id}');
export const updateRuleCall = declareUpdateCall<typeof alertRuleResource, { readonly enabled: boolean }>(
  '/api/alerts/rules/{id}',
);
export const testRuleCall = declareCall<typeof testAlertRule>('POST', '/api/alerts/rules/{id}/test');
export const importRulesCall = declareCall<typeof importAlertRules>('POST', '/api/alerts/rules/import');
export const exportRulesCall = declareCall<typeof exportAlertRules>('GET', '/api/alerts/rules/export');
export const historyCall = declareCall<typeof listAlertHistory>('GET', '/api/alerts/history');
export const recordingGroupsCall = declareListCall<typeof recordingGroupResource>('/api/alerts/recording-groups');
export const createRecordingGroupCall = declareCreateCall<typeof recordingGroupResource, typeof RecordingGroupFields>(
  '/api/alerts/recording-groups',
);
export const replaceRecordingGroupCall = declareReplaceCall<typeof recordingGroupResource, typeof RecordingGroupFields>(
  '/api/alerts/recording-groups/{id}',
);
export const previewRuleCall = declareCall<typeof previewAlertRule>('POST', '/api/alerts/rules/preview');
export const startBacktestCall = declareCall<typeof startBacktest>('POST', '/api/v2/alerts/backtests');
export const backtestCall = declareCall<typeof getBacktest>('GET', '/api/v2/alerts/backtests/{id}');
export const routingCall = declareCall<typeof getAlertRouting>('GET', '/api/v2/alerts/routing');
export const importRoutingCall = declareCall<typeof importAlertRouting>('POST', '/api/v2/alerts/routing/import');
export const setRoutingCall = declareCall<typeof setAlertRouting>('PUT', '/api/v2/alerts/routing');
export const routingTestCall = declareCall<typeof testAlertRouting>('POST', '/api/v2/alerts/routing/test');
export const silencesCall = declareListCall<typeof silenceResource>('/api/alerts/silences');
export const createSilenceCall = declareCreateCall<typeof silenceResource, typeof SilenceFields>(
  '/api/alerts/silences',
);
export const replaceSilenceCall = declareReplaceCall<typeof silenceResource, typeof SilenceFields>(
  '/api/alerts/silences/{id}',
);
export const previewSilenceCall = declareCall<typeof previewSilence>('POST', '/api/alerts/silences/preview');
export const expireSilenceCall = declareCall<typeof expireSilence>('DELETE', '/api/alerts/silences/{id}');
export const maintenanceWindowsCall = declareListCall<typeof maintenanceWindowResource>('/api/maintenance-windows');
export const createMaintenanceWindowCall = declareCreateCall<
  typeof maintenanceWindowResource,
  typeof MaintenanceWindowFields
>('/api/maintenance-windows');
export const replaceMaintenanceWindowCall = declareReplaceCall<
  typeof maintenanceWindowResource,
  typeof MaintenanceWindowFields
>('/api/maintenance-windows/{id}');

export type RecordingGroup = ResourceView<typeof recordingGroupResource>;
/** Writable fields of a recording rule group */
export type RecordingGroupInput = z.input<typeof RecordingGroupFields>;
export type MaintenanceWindow = ResourceView<typeof maintenanceWindowResource>;
export type Alert = ResponseBody<typeof listAlerts>['items'][number];
export type Rule = ResourceView<typeof alertRuleResource>;
export type Silence = ResourceView<typeof silenceResource>;
/** Writable fields of an alert rule */
export type RuleInput = z.input<typeof AlertRuleFields>;
export type RulePreview = ResponseBody<typeof previewAlertRule>;
export type Backtest = ResponseBody<typeof getBacktest>;
