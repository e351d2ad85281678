import { defineGroup } from '../define-group.ts';

export const instrumentationGroup = defineGroup({
  name: 'instrumentation',
  summary: 'Instrumentation agents, and their coverage of the services.',
  planned: [
    [
      'GET /api/instrumentation/agents',
      'viewer',
      'the eBPF agent fleet: host, version, instrumented services, last seen',
    ],
    ['GET /api/instrumentation/agents/{id}', 'viewer', 'one agent'],
    ['GET /api/instrumentation/coverage', 'viewer', 'hosts and services with and without an agent'],
    ['GET /api/instrumentation/manifest', 'viewer', 'installation manifest for this organization'],
  ],
});
