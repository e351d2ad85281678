import { defineGroup } from '../define-group.ts';

export const securityGroup = defineGroup({
  name: 'security',
  summary: 'Security events, detection rules, threats, leaked secrets and vulnerabilities.',
  entitlement: 'security',
  planned: [
    ['GET /api/security/overview', 'viewer', 'counters'],
    ['GET /api/security/events', 'viewer', 'security events'],
    ['GET /api/security/rules', 'viewer', 'detection rules'],
    ['POST /api/security/rules', 'editor', 'create'],
    ['GET /api/security/rules/{id}', 'viewer', 'one'],
    ['PUT /api/security/rules/{id}', 'editor', 'replace'],
    ['DELETE /api/security/rules/{id}', 'editor', 'delete'],
    ['GET /api/security/threats', 'viewer', 'runtime threats (Falco, Tetragon and eBPF events)'],
    ['PATCH /api/security/threats/{id}', 'editor', 'triage'],
    ['GET /api/security/secrets', 'viewer', 'credentials found in telemetry, masked'],
    ['PATCH /api/security/secrets/{id}', 'editor', 'triage'],
    ['GET /api/security/vulnerabilities', 'viewer', 'vulnerabilities by package, image, host'],
    ['POST /api/security/vulnerabilities/import', 'editor', 'scanner reports: Trivy, Grype, SARIF, CycloneDX'],
    ['PATCH /api/security/vulnerabilities/{id}', 'editor', 'triage'],
  ],
});
