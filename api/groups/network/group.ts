import { defineGroup } from '../define-group.ts';

export const networkGroup = defineGroup({
  name: 'network',
  summary: 'Observed flows, topology and DNS.',
  planned: [
    ['GET /api/network/flows', 'viewer', 'observed flows'],
    ['GET /api/network/topology', 'viewer', 'nodes and edges by workload, host or zone'],
    ['GET /api/network/dns', 'viewer', 'DNS: names, failures, latency'],
  ],
});
