/** API calls of the errors area */
import type { changeError } from '../../../api/groups/errors/change.ts';
import type { listErrors } from '../../../api/groups/errors/list.ts';
import type { mergeErrors } from '../../../api/groups/errors/merge.ts';
import type { listErrorOccurrences } from '../../../api/groups/errors/occurrences.ts';
import type { showError } from '../../../api/groups/errors/show.ts';
import { type Answered, callOf } from '../../client/call.ts';

export const errorsCall = callOf<typeof listErrors>('GET', '/api/errors');
export const errorCall = callOf<typeof showError>('GET', '/api/errors/{id}');
export const occurrencesCall = callOf<typeof listErrorOccurrences>('GET', '/api/errors/{id}/occurrences');
export const changeCall = callOf<typeof changeError>('PATCH', '/api/errors/{id}');
export const mergeCall = callOf<typeof mergeErrors>('POST', '/api/errors/merge');

export type ErrorGroup = Answered<typeof listErrors>['items'][number];
export type ErrorDetails = Answered<typeof showError>;
