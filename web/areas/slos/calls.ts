/** API calls of the SLOs area */
import type { z } from 'zod';
import type { exportSlo, importSlos } from '../../../api/groups/slos/openslo.ts';
import type { getSloBurnRate, getSloForecast } from '../../../api/groups/slos/over-time.ts';
import type { getSloPolicy, setSloPolicy } from '../../../api/groups/slos/policy.ts';
import type { getSloReport } from '../../../api/groups/slos/report.ts';
import type { sloResource } from '../../../api/groups/slos/slo.ts';
import type { getSloStatus } from '../../../api/groups/slos/status.ts';
import type { SloFields, SloQuery } from '../../../subjects/slos/document.ts';
import { type Answered, callOf, creationOf, listOf, replacementOf, type ViewOf } from '../../client/call.ts';

export const slosCall = listOf<typeof sloResource>('/api/slos');
export const createSloCall = creationOf<typeof sloResource, typeof SloFields>('/api/slos');
export const changeSloCall = replacementOf<typeof sloResource, typeof SloFields>('/api/slos/{id}');
export const statusCall = callOf<typeof getSloStatus>('GET', '/api/slos/{id}/status');
export const burnRateCall = callOf<typeof getSloBurnRate>('GET', '/api/slos/{id}/burn-rate');
export const forecastCall = callOf<typeof getSloForecast>('GET', '/api/slos/{id}/forecast');
export const policyCall = callOf<typeof getSloPolicy>('GET', '/api/slos/{id}/policy');
export const setPolicyCall = callOf<typeof setSloPolicy>('PUT', '/api/slos/{id}/policy');
export const reportCall = callOf<typeof getSloReport>('GET', '/api/slos/{id}/report');
export const importCall = callOf<typeof importSlos>('POST', '/api/slos/import');
export const exportCall = callOf<typeof exportSlo>('GET', '/api/slos/{id}/export');

export type Slo = ViewOf<typeof sloResource>;
export type Status = Answered<typeof getSloStatus>;
export type Policy = Answered<typeof getSloPolicy>;

/** Fields of an SLO beyond the short form */
export type WrittenQuery = z.input<typeof SloQuery>;
export type WrittenSlo = Omit<z.input<typeof SloFields>, 'query'> & { readonly query: WrittenQuery };
export type Alerting = NonNullable<WrittenQuery['alerting']>;
/** Returns the error at a path of the request, or below it */
export type WrongAt = (path: string) => string | undefined;
