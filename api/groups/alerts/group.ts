import { alertBacktests } from '../../../schemas/resources/alert-backtest.ts';
import { alertRoutings } from '../../../schemas/resources/alert-routing.ts';
import { alertAcknowledgements } from '../../../schemas/resources/alert-rule.ts';
import { emptyResults } from '../../../schemas/resources/empty-result.ts';
import { platformAlerts } from '../../../schemas/resources/platform-alert.ts';
import { defineGroup } from '../define-group.ts';
import { alertRuleResource, alertRuleResourceV2 } from './alert-rule.ts';
import { acknowledgeAlert, listAlerts, listRuleGroups } from './alerts.ts';
import { getBacktest, startBacktest } from './backtests.ts';
import { listAlertHistory, listEvaluations } from './history.ts';
import { recordingGroupResource } from './recording-group.ts';
import { getAlertRouting, importAlertRouting, setAlertRouting, testAlertRouting } from './routing.ts';
import { exportAlertRules, importAlertRules } from './rule-files.ts';
import { expireSilence, previewSilence, silenceResource } from './silences.ts';
import { previewAlertRule, testAlertRule } from './try-rule.ts';

export const alertsGroup = defineGroup({
  name: 'alerts',
  summary: 'Alert rules, their evaluation, silences and routing.',
  resources: [silenceResource, alertRuleResource, alertRuleResourceV2, recordingGroupResource],
  operations: [
    ...[getAlertRouting, setAlertRouting, testAlertRouting, importAlertRouting, expireSilence, previewSilence],
    ...[listAlerts, acknowledgeAlert, listAlertHistory, listEvaluations],
    ...[previewAlertRule, testAlertRule, listRuleGroups],
    ...[startBacktest, getBacktest, importAlertRules, exportAlertRules],
  ],
  collections: [alertRoutings, alertAcknowledgements, alertBacktests, platformAlerts, emptyResults],
});
