import { defineGroup } from '../define-group.ts';
import { listFlows, showDns, showTopology } from './flows.ts';

export const networkGroup = defineGroup({
  name: 'network',
  summary: 'Observed flows, topology and DNS.',
  reads: ['logs', 'metrics', 'traces'],
  operations: [listFlows, showTopology, showDns],
});
