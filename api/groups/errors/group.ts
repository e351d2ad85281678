import { errorGroupStates, errorMerges } from '../../../schemas/resources/error-group.ts';
import { defineGroup } from '../define-group.ts';
import { changeError } from './change.ts';
import { listErrors } from './list.ts';
import { mergeErrors } from './merge.ts';
import { listErrorOccurrences } from './occurrences.ts';
import { showError } from './show.ts';

export const errorsGroup = defineGroup({
  name: 'errors',
  summary: 'Failures, grouped by their cause.',
  reads: ['logs', 'traces'],
  operations: [listErrors, showError, listErrorOccurrences, changeError, mergeErrors],
  collections: [errorGroupStates, errorMerges],
});
