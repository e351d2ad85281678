/** What the area of synthetic checks asks and changes. */
import type { checkResource } from '../../../api/groups/synthetics/check.ts';
import type { listLocations } from '../../../api/groups/synthetics/locations.ts';
import type { listPictures } from '../../../api/groups/synthetics/pictures.ts';
import type { getUptime, listRuns } from '../../../api/groups/synthetics/results.ts';
import type { runCheckNow, tryCheck } from '../../../api/groups/synthetics/run-now.ts';
import { type Answered, callOf, listOf, type ViewOf } from '../../client/call.ts';

export const checksCall = listOf<typeof checkResource>('/api/synthetics/checks');
export const locationsCall = callOf<typeof listLocations>('GET', '/api/synthetics/locations');
export const runsCall = callOf<typeof listRuns>('GET', '/api/synthetics/checks/{id}/runs');
export const uptimeCall = callOf<typeof getUptime>('GET', '/api/synthetics/checks/{id}/uptime');
export const picturesCall = callOf<typeof listPictures>('GET', '/api/synthetics/checks/{id}/pictures');
export const runCall = callOf<typeof runCheckNow>('POST', '/api/synthetics/checks/{id}/run');
export const tryCall = callOf<typeof tryCheck>('POST', '/api/synthetics/try');

export type Check = ViewOf<typeof checkResource>;
export type Location = Answered<typeof listLocations>['items'][number];
export type Run = Answered<typeof listRuns>['items'][number];
export type Uptime = Answered<typeof getUptime>['items'][number];
