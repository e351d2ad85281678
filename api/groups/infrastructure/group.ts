import { defineGroup } from '../define-group.ts';
import { listHosts, showHost } from './hosts.ts';

export const infrastructureGroup = defineGroup({
  name: 'infrastructure',
  summary: 'Hosts, processes, disks and cloud instances.',
  operations: [listHosts, showHost],
  planned: [
    ['GET /api/infrastructure/hosts/{id}/timeseries', 'viewer', 'its series'],
    ['GET /api/infrastructure/processes', 'viewer', 'processes'],
    ['GET /api/infrastructure/compute', 'viewer', 'cloud instances and containers by provider, region, type'],
    ['GET /api/infrastructure/disks', 'viewer', 'disks: use, I/O, days until full'],
  ],
});
