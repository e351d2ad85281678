import { defineGroup } from '../define-group.ts';
import { getInstrumentationAgent, listInstrumentationAgents } from './agents.ts';
import { listCoverage } from './coverage.ts';
import { getManifest } from './manifest.ts';

export const instrumentationGroup = defineGroup({
  name: 'instrumentation',
  summary: 'Instrumentation agents, and their coverage of hosts and services.',
  operations: [listInstrumentationAgents, getInstrumentationAgent, listCoverage, getManifest],
  reads: ['logs', 'metrics', 'traces'],
});
