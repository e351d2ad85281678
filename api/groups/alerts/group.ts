import { alertRoutings } from '../../../schemas/resources/alert-routing.ts';
import { defineGroup } from '../define-group.ts';
import { getAlertRouting, importAlertRouting, setAlertRouting, testAlertRouting } from './routing.ts';
import { expireSilence, silenceResource } from './silences.ts';

export const alertsGroup = defineGroup({
  name: 'alerts',
  summary: 'Alert rules, their evaluation, silences and routing.',
  resources: [silenceResource],
  operations: [getAlertRouting, setAlertRouting, testAlertRouting, importAlertRouting, expireSilence],
  collections: [alertRoutings],
  planned: [
    ['GET /api/alerts/rules', 'viewer', 'list with state'],
    [
      'POST /api/alerts/rules',
      'editor',
      'create: log, metric, PromQL, trace, anomaly, absence, composite; thresholds, for, keep-firing, severity, labels',
    ],
    ['GET /api/alerts/rules/{id}', 'viewer', 'one'],
    ['PUT /api/alerts/rules/{id}', 'editor', 'replace'],
    ['PATCH /api/alerts/rules/{id}', 'editor', 'change fields, enable, disable'],
    ['DELETE /api/alerts/rules/{id}', 'editor', 'delete'],
    ['GET /api/alerts/rules/{id}/evaluations', 'viewer', 'evaluation history: value, state, duration, error'],
    ['POST /api/alerts/rules/{id}/test', 'editor', 'test firing, marked as a test, through the real routing'],
    ['POST /api/alerts/rules/preview', 'editor', 'what a rule would say now'],
    ['GET /api/alerts', 'viewer', 'alerts now, by state'],
    ['GET /api/alerts/history', 'viewer', 'transitions'],
    ['POST /api/alerts/{id}/acknowledge', 'editor', 'acknowledge'],
    ['GET /api/v2/alerts/rules', 'viewer', 'v2: one rule, one alert per group'],
    [
      'POST /api/v2/alerts/rules',
      'editor',
      'create with group-by, several conditions, no-data and error policy, recovery threshold',
    ],
    ['GET /api/v2/alerts/rules/{id}', 'viewer', 'one'],
    ['PUT /api/v2/alerts/rules/{id}', 'editor', 'replace'],
    ['DELETE /api/v2/alerts/rules/{id}', 'editor', 'delete'],
    ['GET /api/v2/alerts/rules/{id}/groups', 'viewer', 'per-group alerts with state and value'],
    ['POST /api/v2/alerts/backtests', 'editor', 'run a rule over past data: when it would have fired, per group'],
    ['GET /api/v2/alerts/backtests/{id}', 'viewer', 'progress and result'],
  ],
});
