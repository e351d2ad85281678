import { caseComments, caseEvidence } from '../../../schemas/resources/security-case.ts';
import { defineGroup } from '../define-group.ts';
import { caseResource } from './case.ts';
import { attachCaseEvidence, commentOnCase } from './case-additions.ts';
import { indicatorResource } from './indicator.ts';
import { addIndicators } from './indicators.ts';

export const siemGroup = defineGroup({
  name: 'siem',
  summary: 'Signals, detection rules, file integrity, threat intelligence and cases.',
  entitlement: 'siem',
  resources: [caseResource, indicatorResource],
  operations: [commentOnCase, attachCaseEvidence, addIndicators],
  collections: [caseComments, caseEvidence],
  planned: [
    ['GET /api/siem/signals', 'viewer', 'signals'],
    ['GET /api/siem/signals/{id}', 'viewer', 'one, with the events that matched'],
    ['PATCH /api/siem/signals/{id}', 'editor', 'triage: state, assignee, reason'],
    ['GET /api/siem/rules', 'viewer', 'detection rules'],
    ['POST /api/siem/rules', 'editor', 'create, from Sigma YAML (rules and correlations)'],
    ['GET /api/siem/rules/{id}', 'viewer', 'one'],
    ['PUT /api/siem/rules/{id}', 'editor', 'replace; kept as versions'],
    ['DELETE /api/siem/rules/{id}', 'editor', 'delete'],
    ['POST /api/siem/rules/import', 'editor', 'a Sigma archive or many documents; a result per rule'],
    ['GET /api/siem/rules/export', 'viewer', 'Sigma YAML'],
    ['POST /api/siem/rules/validate', 'editor', 'compile, without saving'],
    ['POST /api/siem/rules/{id}/test', 'editor', 'run over sample events'],
    ['POST /api/siem/rules/{id}/backtest', 'editor', 'run over stored data'],
    [
      'GET /api/siem/mitre/coverage',
      'viewer',
      'ATT&CK coverage: tactics, techniques, rules, signals; ATT&CK Navigator layer',
    ],
    ['GET /api/siem/fim', 'viewer', 'file-integrity events'],
    ['GET /api/siem/fim/baselines', 'viewer', 'baselines'],
    ['POST /api/siem/fim/baselines', 'editor', 'take or set one'],
    ['GET /api/siem/threat-intel/feeds', 'viewer', 'feeds'],
    ['POST /api/siem/threat-intel/feeds', 'editor', 'subscribe (TAXII 2.1, URL)'],
    ['DELETE /api/siem/threat-intel/feeds/{id}', 'editor', 'unsubscribe'],
    ['GET /api/siem/threat-intel/matches', 'viewer', 'matches in telemetry'],
  ],
});
