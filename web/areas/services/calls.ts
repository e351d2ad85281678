/** API calls of the services area */
import type { showOverview } from '../../../api/groups/overview/overview.ts';
import type { recordDeployment } from '../../../api/groups/services/deployments.ts';
import type { listEndpoints } from '../../../api/groups/services/endpoints.ts';
import type { listServices } from '../../../api/groups/services/list.ts';
import type { showServiceMap } from '../../../api/groups/services/map.ts';
import { type Answered, callOf } from '../../client/call.ts';

export const servicesCall = callOf<typeof listServices>('GET', '/api/services');
export const serviceMapCall = callOf<typeof showServiceMap>('GET', '/api/service-map');
export const endpointsCall = callOf<typeof listEndpoints>('GET', '/api/services/{name}/endpoints');
export const recordDeploymentCall = callOf<typeof recordDeployment>('POST', '/api/deployments');
export const overviewCall = callOf<typeof showOverview>('GET', '/api/overview');

export type Service = Answered<typeof listServices>['items'][number];
/** Metrics of requests */
export type RequestMetrics = Answered<typeof listEndpoints>['items'][number]['figures'];
export type Edge = Answered<typeof showServiceMap>['edges'][number];
export type MapNode = Answered<typeof showServiceMap>['nodes'][number];
export type AttentionItem = NonNullable<Answered<typeof showOverview>['attention']>['items'][number];
