import type { listSecurityEvents } from '../../../api/groups/security/events.ts';
import type { importVulnerabilities } from '../../../api/groups/security/import-vulnerabilities.ts';
import type { getSecurityOverview } from '../../../api/groups/security/overview.ts';
import type { listSecrets, triageSecret } from '../../../api/groups/security/secrets.ts';
import type { listThreats, triageThreat } from '../../../api/groups/security/threats.ts';
import type { listVulnerabilities, triageVulnerability } from '../../../api/groups/security/vulnerabilities.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';

export const overviewCall = declareCall<typeof getSecurityOverview>('GET', '/api/security/overview');
export const eventsCall = declareCall<typeof listSecurityEvents>('GET', '/api/security/events');
export const threatsCall = declareCall<typeof listThreats>('GET', '/api/security/threats');
export const triageThreatCall = declareCall<typeof triageThreat>('PATCH', '/api/security/threats/{id}');
export const secretsCall = declareCall<typeof listSecrets>('GET', '/api/security/secrets');
export const triageSecretCall = declareCall<typeof triageSecret>('PATCH', '/api/security/secrets/{id}');
export const vulnerabilitiesCall = declareCall<typeof listVulnerabilities>('GET', '/api/security/vulnerabilities');
export const triageVulnerabilityCall = declareCall<typeof triageVulnerability>(
  'PATCH',
  '/api/security/vulnerabilities/{id}',
);
export const importCall = declareCall<typeof importVulnerabilities>('POST', '/api/security/vulnerabilities/import');

export type SecurityOverview = ResponseBody<typeof getSecurityOverview>;
export type Threat = ResponseBody<typeof listThreats>['items'][number];
export type Secret = ResponseBody<typeof listSecrets>['items'][number];
export type Vulnerability = ResponseBody<typeof listVulnerabilities>['items'][number];
export type VulnerabilityGroups = ResponseBody<typeof listVulnerabilities>['groups'];
export type ImportReport = ResponseBody<typeof importVulnerabilities>;
