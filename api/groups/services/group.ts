import { defineGroup } from '../define-group.ts';
import { listDependencies } from './dependencies.ts';
import { showServiceMap } from './map.ts';

export const servicesGroup = defineGroup({
  name: 'services',
  summary: 'Services, their figures, dependencies and deployments.',
  entitlement: 'traces',
  operations: [listDependencies, showServiceMap],
  planned: [
    ['GET /api/services', 'viewer', 'inventory with rate, errors, latency percentiles, apdex'],
    ['GET /api/services/{name}', 'viewer', 'one service, its instances, versions, runtimes'],
    ['GET /api/services/{name}/timeseries', 'viewer', 'RED series'],
    ['GET /api/services/{name}/endpoints', 'viewer', 'endpoints with RED figures'],
    ['GET /api/services/{name}/deployments', 'viewer', 'deployment markers with before/after figures'],
    ['POST /api/deployments', 'editor', 'record a deployment marker'],
    ['GET /api/deployments', 'viewer', 'markers, recorded or detected from service.version'],
  ],
});
