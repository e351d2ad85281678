/** API calls of the SLOs area */
import type { z } from 'zod';
import type { exportSlo, importSlos } from '../../../api/groups/slos/openslo.ts';
import type { getSloBurnRate, getSloForecast } from '../../../api/groups/slos/over-time.ts';
import type { getSloPolicy, setSloPolicy } from '../../../api/groups/slos/policy.ts';
import type { getSloReport } from '../../../api/groups/slos/report.ts';
import type { sloResource } from '../../../api/groups/slos/slo.ts';
import type { getSloStatus } from '../../../api/groups/slos/status.ts';
import type { SloFields, SloQuery } from '../../../subjects/slos/document.ts';
import {
  declareCall,
  declareCreateCall,
  declareListCall,
  declareReplaceCall,
  type ResourceView,
  type ResponseBody,
} from '../../client/call.ts';

export const slosCall = declareListCall<typeof sloResource>('/api/slos');
export const createSloCall = declareCreateCall<typeof sloResource, typeof SloFields>('/api/slos');
export const replaceSloCall = declareReplaceCall<typeof sloResource, typeof SloFields>('/api/slos/{id}');
export const statusCall = declareCall<typeof getSloStatus>('GET', '/api/slos/{id}/status');
export const burnRateCall = declareCall<typeof getSloBurnRate>('GET', '/api/slos/{id}/burn-rate');
export const forecastCall = declareCall<typeof getSloForecast>('GET', '/api/slos/{id}/forecast');
export const policyCall = declareCall<typeof getSloPolicy>('GET', '/api/slos/{id}/policy');
export const setPolicyCall = declareCall<typeof setSloPolicy>('PUT', '/api/slos/{id}/policy');
export const reportCall = declareCall<typeof getSloReport>('GET', '/api/slos/{id}/report');
export const importCall = declareCall<typeof importSlos>('POST', '/api/slos/import');
export const exportCall = declareCall<typeof exportSlo>('GET', '/api/slos/{id}/export');

export type Slo = ResourceView<typeof sloResource>;
export type Status = ResponseBody<typeof getSloStatus>;
export type Policy = ResponseBody<typeof getSloPolicy>;

/** Fields of an SLO that the short form does not have */
export type SloQueryInput = z.input<typeof SloQuery>;
export type SloInput = Omit<z.input<typeof SloFields>, 'query'> & { readonly query: SloQueryInput };
export type Alerting = NonNullable<SloQueryInput['alerting']>;
/** Returns the error of the field at a path of the request, or of a field inside it */
export type FindProblem = (path: string) => string | undefined;
