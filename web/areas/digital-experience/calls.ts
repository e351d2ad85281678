/** API calls of the digital experience area */
import type { licenseKeyResource } from '../../../api/groups/license-keys/resource.ts';
import type { listRumApplications } from '../../../api/groups/rum/applications.ts';
import type { listRumErrors } from '../../../api/groups/rum/errors.ts';
import type { listRumPages } from '../../../api/groups/rum/pages.ts';
import type { showReplay } from '../../../api/groups/rum/replay.ts';
import type { listRumResources } from '../../../api/groups/rum/resources.ts';
import type { showRumSession } from '../../../api/groups/rum/session.ts';
import type { listRumSessions } from '../../../api/groups/rum/sessions.ts';
import type { listWebVitals } from '../../../api/groups/rum/web-vitals.ts';
import { declareCall, declareListCall, type ResourceView, type ResponseBody } from '../../client/call.ts';

export const applicationsCall = declareCall<typeof listRumApplications>('GET', '/api/rum/applications');
export const sessionsCall = declareCall<typeof listRumSessions>('GET', '/api/rum/sessions');
export const sessionCall = declareCall<typeof showRumSession>('GET', '/api/rum/sessions/{id}');
export const replayCall = declareCall<typeof showReplay>('GET', '/api/rum/sessions/{id}/replay');
export const vitalsCall = declareCall<typeof listWebVitals>('GET', '/api/rum/web-vitals');
export const pagesCall = declareCall<typeof listRumPages>('GET', '/api/rum/pages');
export const resourcesCall = declareCall<typeof listRumResources>('GET', '/api/rum/resources');
export const rumErrorsCall = declareCall<typeof listRumErrors>('GET', '/api/rum/errors');
export const keysCall = declareListCall<typeof licenseKeyResource>('/api/license-keys');

export type Application = ResponseBody<typeof listRumApplications>['items'][number];
export type Session = ResponseBody<typeof listRumSessions>['items'][number];
export type SessionEvent = ResponseBody<typeof showRumSession>['items'][number];
export type SessionTrace = ResponseBody<typeof showRumSession>['traces'][number];
export type ReplayGap = ResponseBody<typeof showReplay>['gaps'][number];
export type Vital = ResponseBody<typeof listWebVitals>['vitals'][number];
export type VitalTrend = NonNullable<ResponseBody<typeof listWebVitals>['trend']>;
export type RumPage = ResponseBody<typeof listRumPages>['items'][number];
export type RumError = ResponseBody<typeof listRumErrors>['items'][number];
export type Key = ResourceView<typeof licenseKeyResource>;
