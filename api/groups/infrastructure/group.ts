import { defineGroup } from '../define-group.ts';
import { listCompute } from './compute.ts';
import { listDisks } from './disks.ts';
import { listHosts, showHost } from './hosts.ts';
import { listProcesses } from './processes.ts';
import { showHostTimeseries } from './timeseries.ts';

export const infrastructureGroup = defineGroup({
  name: 'infrastructure',
  summary: 'Hosts, processes, disks and cloud instances.',
  entitlement: 'metrics',
  reads: ['logs', 'traces'],
  operations: [listHosts, showHost, showHostTimeseries, listProcesses, listCompute, listDisks],
});
