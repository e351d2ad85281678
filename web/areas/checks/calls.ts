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
import { type Answered, callOf, changeOf, creationOf, listOf, replacementOf, type ViewOf } from '../../client/call.ts';

export const checksCall = listOf<typeof checkResource>('/api/synthetics/checks');
export const createCheckCall = creationOf<typeof checkResource, typeof CheckFields>('/api/synthetics/checks');
export const replaceCheckCall = replacementOf<typeof checkResource, typeof CheckFields>('/api/synthetics/checks/{id}');
export const changeCheckCall = changeOf<typeof checkResource, { readonly enabled: boolean }>(
  '/api/synthetics/checks/{id}',
);
export const renewTokenCall = callOf<typeof renewHeartbeatToken>('POST', '/api/synthetics/checks/{id}/token');
export const runsCall = callOf<typeof listRuns>('GET', '/api/synthetics/checks/{id}/runs');
export const uptimeCall = callOf<typeof getUptime>('GET', '/api/synthetics/checks/{id}/uptime');
export const screenshotsCall = callOf<typeof listPictures>('GET', '/api/synthetics/checks/{id}/pictures');
export const runCheckCall = callOf<typeof runCheckNow>('POST', '/api/synthetics/checks/{id}/run');
export const tryCheckCall = callOf<typeof tryCheck>('POST', '/api/synthetics/try');
export const exportChecksCall = callOf<typeof exportChecks>('GET', '/api/synthetics/export');
export const importChecksCall = callOf<typeof importChecks>('POST', '/api/synthetics/import');

export const locationsCall = callOf<typeof listLocations>('GET', '/api/synthetics/locations');
export const createLocationCall = callOf<typeof createLocation>('POST', '/api/synthetics/locations');
export const deleteLocationCall = callOf<typeof deleteLocation>('DELETE', '/api/synthetics/locations/{id}');

export const variablesCall = callOf<typeof listVariables>('GET', '/api/synthetics/variables');
export const setVariableCall = callOf<typeof setVariable>('PUT', '/api/synthetics/variables/{name}');
export const deleteVariableCall = callOf<typeof deleteVariable>('DELETE', '/api/synthetics/variables/{name}');

export const downtimesCall = callOf<typeof listDowntimes>('GET', '/api/synthetics/downtimes');
export const createDowntimeCall = callOf<typeof createDowntime>('POST', '/api/synthetics/downtimes');
export const deleteDowntimeCall = callOf<typeof deleteDowntime>('DELETE', '/api/synthetics/downtimes/{id}');

export type Check = ViewOf<typeof checkResource>;
export type Location = Answered<typeof listLocations>['items'][number];
export type Variable = Answered<typeof listVariables>['items'][number];
export type Downtime = Answered<typeof listDowntimes>['items'][number];
export type Run = Answered<typeof listRuns>['items'][number];
export type Uptime = Answered<typeof getUptime>['items'][number];
