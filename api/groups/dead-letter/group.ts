import { defineGroup } from '../define-group.ts';
import { discardDeadLetter } from './discard.ts';
import { listDeadLetters } from './list.ts';
import { replayDeadLetters } from './replay.ts';
import { showDeadLetter } from './show.ts';
import { showReplay } from './show-replay.ts';

export const deadLetterGroup = defineGroup({
  name: 'dead-letter',
  summary: 'Payloads that were refused or could not be processed: read, replay, discard.',
  operations: [listDeadLetters, showDeadLetter, replayDeadLetters, showReplay, discardDeadLetter],
});
