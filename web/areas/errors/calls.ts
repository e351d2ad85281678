/** API calls of the errors area */
import type { changeError } from '../../../api/groups/errors/change.ts';
import type { listErrors } from '../../../api/groups/errors/list.ts';
import type { mergeErrors } from '../../../api/groups/errors/merge.ts';
import type { listErrorOccurrences } from '../../../api/groups/errors/occurrences.ts';
import type { showError } from '../../../api/groups/errors/show.ts';
import { declareCall, type ResponseBody } from '../../client/call.ts';

export const errorsCall = declareCall<typeof listErrors>('GET', '/api/errors');
export const errorCall = declareCall<typeof showError>('GET', '/api/errors/{id}');
export const occurrencesCall = declareCall<typeof listErrorOccurrences>('GET', '/api/errors/{id}/occurrences');
export const updateErrorCall = declareCall<typeof changeError>('PATCH', '/api/errors/{id}');
export const mergeErrorsCall = declareCall<typeof mergeErrors>('POST', '/api/errors/merge');

export type ErrorGroup = ResponseBody<typeof listErrors>['items'][number];
export type ErrorDetails = ResponseBody<typeof showError>;
