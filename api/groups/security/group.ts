import { secretTriages, threatTriages, vulnerabilityTriages } from '../../../schemas/resources/security-triage.ts';
import { vulnerabilitySourceParts, vulnerabilitySources } from '../../../schemas/resources/vulnerability-source.ts';
import { defineGroup } from '../define-group.ts';
import { securityRuleResource } from '../siem/security-rule.ts';
import { listSecurityEvents } from './events.ts';
import { importVulnerabilities } from './import-vulnerabilities.ts';
import { getSecurityOverview } from './overview.ts';
import { listSecrets, triageSecret } from './secrets.ts';
import { listThreats, triageThreat } from './threats.ts';
import { listVulnerabilities, triageVulnerability } from './vulnerabilities.ts';

export const securityGroup = defineGroup({
  name: 'security',
  summary: 'Security events, detection rules, threats, leaked secrets and vulnerabilities.',
  entitlement: 'security',
  reads: ['logs'],
  resources: [securityRuleResource],
  operations: [
    getSecurityOverview,
    listSecurityEvents,
    listThreats,
    triageThreat,
    listSecrets,
    triageSecret,
    listVulnerabilities,
    importVulnerabilities,
    triageVulnerability,
  ],
  collections: [secretTriages, threatTriages, vulnerabilityTriages, vulnerabilitySources, vulnerabilitySourceParts],
});
