/** API calls of the synthetic checks area */
import type { exportChecks, importChecks } from '../../../api/groups/synthetics/as-code.ts';
import type { checkResource } from '../../../api/groups/synthetics/check.ts';
import type { createDowntime, deleteDowntime, listDowntimes } from '../../../api/groups/synthetics/downtimes.ts';
import type { createLocation, deleteLocation, listLocations } from '../../../api/groups/synthetics/locations.ts';
import type { listPictures } from '../../../api/groups/synthetics/pictures.ts';
import type { renewHeartbeatToken } from '../../../api/groups/synthetics/renew-heartbeat-token.ts';
import type { getUptime, listRuns } from '../../../api/groups/synthetics/results.ts';
import type { runCheckNow, tryCheck } from '../../../api/groups/synthetics/run-now.ts';
import type { deleteVariable, listVariables, setVariable } from '../../../api/groups/synthetics/variables.ts';
import type { CheckFields } from '../../../subjects/synthetics/check.ts';
import {
  declareCall,
  declareCreateCall,
  declareListCall,
  declareReplaceCall,
  declareUpdateCall,
  type ResourceView,
  type ResponseBody,
} from '../../client/call.ts';

export const checksCall = declareListCall<typeof checkResource>('/api/synthetics/checks');
export const createCheckCall = declareCreateCall<typeof checkResource, typeof CheckFields>('/api/synthetics/checks');
export const replaceCheckCall = declareReplaceCall<typeof checkResource, typeof CheckFields>(
  '/api/synthetics/checks/{id}',
);
export const updateCheckCall = declareUpdateCall<typeof checkResource, { readonly enabled: boolean }>(
  '/api/synthetics/checks/{id}',
);
export const renewTokenCall = declareCall<typeof renewHeartbeatToken>('POST', '/api/synthetics/checks/{id}/token');
export const runsCall = declareCall<typeof listRuns>('GET', '/api/synthetics/checks/{id}/runs');
export const uptimeCall = declareCall<typeof getUptime>('GET', '/api/synthetics/checks/{id}/uptime');
export const screenshotsCall = declareCall<typeof listPictures>('GET', '/api/synthetics/checks/{id}/pictures');
export const runCheckCall = declareCall<typeof runCheckNow>('POST', '/api/synthetics/checks/{id}/run');
export const testCheckCall = declareCall<typeof tryCheck>('POST', '/api/synthetics/try');
export const exportChecksCall = declareCall<typeof exportChecks>('GET', '/api/synthetics/export');
export const importChecksCall = declareCall<typeof importChecks>('POST', '/api/synthetics/import');

export const locationsCall = declareCall<typeof listLocations>('GET', '/api/synthetics/locations');
export const createLocationCall = declareCall<typeof createLocation>('POST', '/api/synthetics/locations');
export const deleteLocationCall = declareCall<typeof deleteLocation>('DELETE', '/api/synthetics/locations/{id}');

export const variablesCall = declareCall<typeof listVariables>('GET', '/api/synthetics/variables');
export const setVariableCall = declareCall<typeof setVariable>('PUT', '/api/synthetics/variables/{name}');
export const deleteVariableCall = declareCall<typeof deleteVariable>('DELETE', '/api/synthetics/variables/{name}');

export const downtimesCall = declareCall<typeof listDowntimes>('GET', '/api/synthetics/downtimes');
export const createDowntimeCall = declareCall<typeof createDowntime>('POST', '/api/synthetics/downtimes');
export const deleteDowntimeCall = declareCall<typeof deleteDowntime>('DELETE', '/api/synthetics/downtimes/{id}');

export type Check = ResourceView<typeof checkResource>;
export type Location = ResponseBody<typeof listLocations>['items'][number];
export type Variable = ResponseBody<typeof listVariables>['items'][number];
export type Downtime = ResponseBody<typeof listDowntimes>['items'][number];
export type Run = ResponseBody<typeof listRuns>['items'][number];
export type Uptime = ResponseBody<typeof getUptime>['items'][number];
