import { defineGroup } from '../define-group.ts';

export const syntheticsGroup = defineGroup({
  name: 'synthetics',
  summary: 'Checks that probe services from outside, their runs and locations.',
  planned: [
    ['GET /api/synthetics/checks', 'viewer', 'list with state and uptime'],
    [
      'POST /api/synthetics/checks',
      'editor',
      'HTTP (multi-step, assertions), TCP, DNS, TLS expiry, ICMP, gRPC health, WebSocket, browser',
    ],
    ['GET /api/synthetics/checks/{id}', 'viewer', 'one'],
    ['PUT /api/synthetics/checks/{id}', 'editor', 'replace'],
    ['DELETE /api/synthetics/checks/{id}', 'editor', 'delete'],
    ['POST /api/synthetics/checks/{id}/run', 'editor', 'run now'],
    ['GET /api/synthetics/checks/{id}/runs', 'viewer', 'runs with timings per phase'],
    ['GET /api/synthetics/checks/{id}/uptime', 'viewer', 'uptime per period and location'],
    ['GET /api/synthetics/export', 'viewer', 'checks as YAML'],
    ['POST /api/synthetics/import', 'editor', 'YAML; dryRun shows the difference'],
    ['GET /api/synthetics/locations', 'viewer', 'probe locations and when each was last heard from'],
    ['POST /api/synthetics/locations', 'admin', 'register a private location'],
    ['DELETE /api/synthetics/locations/{id}', 'admin', 'remove'],
    ['GET /api/synthetics/variables', 'viewer', 'variables, secrets masked'],
    ['PUT /api/synthetics/variables/{name}', 'editor', 'set'],
    ['DELETE /api/synthetics/variables/{name}', 'editor', 'delete'],
    ['GET /api/synthetics/downtimes', 'viewer', 'planned downtimes'],
    ['POST /api/synthetics/downtimes', 'editor', 'create'],
    ['DELETE /api/synthetics/downtimes/{id}', 'editor', 'delete'],
  ],
});
