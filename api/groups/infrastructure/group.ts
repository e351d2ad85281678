import { defineGroup } from '../define-group.ts';

export const infrastructureGroup = defineGroup({
  name: 'infrastructure',
  summary: 'Hosts, processes, disks and cloud instances.',
  planned: [
    ['GET /api/infrastructure/hosts', 'viewer', 'hosts with cpu, memory, disk, network, load, last seen'],
    ['GET /api/infrastructure/hosts/{id}', 'viewer', 'one host'],
    ['GET /api/infrastructure/hosts/{id}/timeseries', 'viewer', 'its series'],
    ['GET /api/infrastructure/processes', 'viewer', 'processes'],
    ['GET /api/infrastructure/compute', 'viewer', 'cloud instances and containers by provider, region, type'],
    ['GET /api/infrastructure/disks', 'viewer', 'disks: use, I/O, days until full'],
  ],
});
