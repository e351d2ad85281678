import { defineGroup } from '../define-group.ts';
import { discardDeadLetter, listDeadLetters, showDeadLetter } from './dead-letters.ts';
import { replayJobs } from './replay/replay-jobs.ts';
import { replayDeadLetters, showReplay } from './replays.ts';

export const deadLetterGroup = defineGroup({
  name: 'dead-letter',
  summary: 'Payloads that were rejected or could not be processed: read, replay, discard.',
  operations: [listDeadLetters, showDeadLetter, replayDeadLetters, showReplay, discardDeadLetter],
  collections: [replayJobs],
});
