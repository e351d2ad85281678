import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { rangeParameters } from '../../../queries/range.ts';
import { formatTime } from '../../../queries/time.ts';
import { detectionRules } from '../../../schemas/resources/detection-rule.ts';
import { secretTriages, threatTriages, vulnerabilityTriages } from '../../../schemas/resources/security-triage.ts';
import { countSignalsBySeverity } from '../../../subjects/detections/stored-signals.ts';
import { readThreatGroups } from '../../../subjects/runtime-threats/stored-threats.ts';
import { readStoredSecrets } from '../../../subjects/secrets/stored-findings.ts';
import { readTriages } from '../../../subjects/security/stored-triages.ts';
import { resolveState } from '../../../subjects/security/triage.ts';
import { assessFindings, resolveFindingState } from '../../../subjects/vulnerabilities/assess.ts';
import { readInventory } from '../../../subjects/vulnerabilities/inventory.ts';
import { readRunningTargets } from '../../../subjects/vulnerabilities/running-targets.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { parseFindingsRange } from './lists.ts';
import { readOwnKeys } from './own-keys.ts';

const Counter = z.strictObject({
  count: z.int(),
  query: z.string().describe('The request whose results are counted, without the range'),
});

export const getSecurityOverview = defineOperation({
  method: 'GET',
  path: '/api/security/overview',
  operationId: 'getSecurityOverview',
  summary: 'Count signals, open threats, secrets and vulnerabilities, each with the request that lists them',
  role: 'viewer',
  query: z.strictObject({ from: rangeParameters.from, to: rangeParameters.to, ...projectScopeParameters }),
  response: z.strictObject({
    from: z.string(),
    to: z.string(),
    rules: Counter.describe('Enabled detection rules'),
    signals: Counter.describe('Signals of detection rules in the range'),
    criticalSignals: Counter,
    threats: Counter.describe('Open groups of events of sensors'),
    criticalThreats: Counter,
    secrets: Counter.describe('Open secrets in telemetry'),
    activeKeys: z.int().describe('Of these, keys of this platform that still work'),
    vulnerabilities: Counter.describe('Open vulnerabilities without a decision'),
    criticalVulnerabilities: Counter,
    runningVulnerabilities: Counter,
  }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const { nowMs } = reader;
    const documents = ports.documents.forTenant(caller.tenantId);
    const range = parseFindingsRange(query, reader);
    const signalFilter = { projectId: query.scope === 'account' ? undefined : query.projectId, withSuppressed: false };
    const [rules, signals, groups, secrets, inventory, runningTargets, threatDecisions, secretDecisions, triages] =
      await Promise.all([
        documents.collection(detectionRules).count({ enabled: true }),
        countSignalsBySeverity(reader, signalFilter, range),
        readThreatGroups(reader, query, range),
        readStoredSecrets(reader, query, range),
        readInventory(documents),
        readRunningTargets(reader, nowMs),
        readTriages(documents, threatTriages),
        readTriages(documents, secretTriages),
        readTriages(documents, vulnerabilityTriages),
      ]);
    const openThreats = groups.filter(
      ({ id, last_ms }) => resolveState(threatDecisions.get(id), Number(last_ms), nowMs).state === 'open',
    );
    const openSecrets = secrets.filter(
      ({ id, last_ms }) => resolveState(secretDecisions.get(id), Number(last_ms), nowMs).state === 'open',
    );
    const getOwnKey = await readOwnKeys(documents, openSecrets, nowMs);
    const assessed = await assessFindings({ inventory, runningTargets });
    const open = assessed.filter(
      ({ finding }) => finding.isOpen && resolveFindingState(finding, { triages, nowMs }).state === 'open',
    );
    const vulnerabilitiesPath = '/api/security/vulnerabilities?state=open';
    return {
      from: formatTime(range.from),
      to: formatTime(range.to),
      rules: { count: rules, query: '/api/security/rules?enabled=true' },
      signals: { count: [...signals.values()].reduce((sum, total) => sum + total, 0), query: '/api/siem/signals' },
      criticalSignals: { count: signals.get('critical') ?? 0, query: '/api/siem/signals?severity=critical' },
      threats: { count: openThreats.length, query: '/api/security/threats?state=open' },
      criticalThreats: {
        count: openThreats.filter(({ latest }) => latest[2] === 'critical').length,
        query: '/api/security/threats?state=open&severity=critical',
      },
      secrets: { count: openSecrets.length, query: '/api/security/secrets?state=open' },
      activeKeys: openSecrets.filter((secret) => getOwnKey(secret)?.isActive === true).length,
      vulnerabilities: { count: open.length, query: vulnerabilitiesPath },
      criticalVulnerabilities: {
        count: open.filter(({ priority }) => priority === 'critical').length,
        query: `${vulnerabilitiesPath}&priority=critical`,
      },
      runningVulnerabilities: {
        count: open.filter(({ running }) => running === 'running' || running === 'exposed').length,
        query: `${vulnerabilitiesPath}&running=running,exposed`,
      },
    };
  },
});
