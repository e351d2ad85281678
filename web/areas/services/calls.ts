/** API calls of the services area */
import type { recordDeployment } from '../../../api/groups/services/deployments.ts';
import type { listEndpoints } from '../../../api/groups/services/endpoints.ts';
import type { listServices } from '../../../api/groups/services/list.ts';
import type { showServiceMap } from '../../../api/groups/services/map.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';

export const servicesCall = declareCall<typeof listServices>('GET', '/api/services');
export const serviceMapCall = declareCall<typeof showServiceMap>('GET', '/api/service-map');
export const endpointsCall = declareCall<typeof listEndpoints>('GET', '/api/services/{name}/endpoints');
export const recordDeploymentCall = declareCall<typeof recordDeployment>('POST', '/api/deployments');

export type Service = ResponseBody<typeof listServices>['items'][number];
/** Metrics of requests */
export type RequestMetrics = ResponseBody<typeof listEndpoints>['items'][number]['figures'];
export type Edge = ResponseBody<typeof showServiceMap>['edges'][number];
export type MapNode = ResponseBody<typeof showServiceMap>['nodes'][number];
