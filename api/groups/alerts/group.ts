import { alertRoutings } from '../../../schemas/resources/alert-routing.ts';
import { alertAcknowledgements } from '../../../schemas/resources/alert-rule.ts';
import { defineGroup } from '../define-group.ts';
import { alertRuleResource, alertRuleResourceV2 } from './alert-rule.ts';
import { getAlertRouting, importAlertRouting, setAlertRouting, testAlertRouting } from './routing.ts';
import { expireSilence, silenceResource } from './silences.ts';

export const alertsGroup = defineGroup({
  name: 'alerts',
  summary: 'Alert rules, their evaluation, silences and routing.',
  resources: [silenceResource, alertRuleResource, alertRuleResourceV2],
  operations: [getAlertRouting, setAlertRouting, testAlertRouting, importAlertRouting, expireSilence],
  collections: [alertRoutings, alertAcknowledgements],
  planned: [
    ['GET /api/alerts/rules/{id}/evaluations', 'viewer', 'evaluation history: value, state, duration, error'],
    ['POST /api/alerts/rules/{id}/test', 'editor', 'test firing, marked as a test, through the real routing'],
    ['POST /api/alerts/rules/preview', 'editor', 'what a rule would say now'],
    ['GET /api/alerts', 'viewer', 'alerts now, by state'],
    ['GET /api/alerts/history', 'viewer', 'transitions'],
    ['POST /api/alerts/{id}/acknowledge', 'editor', 'acknowledge'],
    ['GET /api/v2/alerts/rules/{id}/groups', 'viewer', 'per-group alerts with state and value'],
    ['POST /api/v2/alerts/backtests', 'editor', 'run a rule over past data: when it would have fired, per group'],
    ['GET /api/v2/alerts/backtests/{id}', 'viewer', 'progress and result'],
  ],
});
