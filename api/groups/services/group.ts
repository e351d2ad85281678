import { serviceSettings } from '../../../schemas/resources/service-settings.ts';
import { defineGroup } from '../define-group.ts';
import { listDependencies } from './dependencies.ts';
import { listServices } from './list.ts';
import { showServiceMap } from './map.ts';
import { getServiceSettings, putServiceSettings } from './settings.ts';

export const servicesGroup = defineGroup({
  name: 'services',
  summary: 'Services, their figures, dependencies and deployments.',
  entitlement: 'traces',
  operations: [listServices, listDependencies, showServiceMap, getServiceSettings, putServiceSettings],
  collections: [serviceSettings],
  planned: [
    ['GET /api/services/{name}', 'viewer', 'one service, its instances, versions, runtimes'],
    ['GET /api/services/{name}/timeseries', 'viewer', 'RED series'],
    ['GET /api/services/{name}/endpoints', 'viewer', 'endpoints with RED figures'],
    ['GET /api/services/{name}/deployments', 'viewer', 'deployment markers with before/after figures'],
    ['POST /api/deployments', 'editor', 'record a deployment marker'],
    ['GET /api/deployments', 'viewer', 'markers, recorded or detected from service.version'],
  ],
});
