import { serviceSettings } from '../../../schemas/resources/apdex-settings.ts';
import { defineGroup } from '../define-group.ts';
import { listDependencies } from './dependencies.ts';
import { listDeployments, recordDeployment } from './deployments.ts';
import { listEndpoints } from './endpoints.ts';
import { listServices } from './list.ts';
import { listServiceDeployments } from './list-deployments.ts';
import { showServiceMap } from './map.ts';
import { getServiceSettings, putServiceSettings } from './settings.ts';
import { showService } from './show.ts';
import { listServiceSeries } from './timeseries.ts';

export const servicesGroup = defineGroup({
  name: 'services',
  summary: 'Services, their metrics, dependencies and deployments.',
  entitlement: 'traces',
  reads: ['logs', 'metrics'],
  operations: [
    recordDeployment,
    listDeployments,
    listServiceDeployments,
    listServices,
    showService,
    listServiceSeries,
    listEndpoints,
    listDependencies,
    showServiceMap,
    getServiceSettings,
    putServiceSettings,
  ],
  collections: [serviceSettings],
});
