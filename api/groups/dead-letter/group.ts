import { defineGroup } from '../define-group.ts';
import { discardDeadLetter } from './letters.ts';
import { listDeadLetters } from './letters.ts';
import { replayDeadLetters } from './replays.ts';
import { showDeadLetter } from './letters.ts';
import { showReplay } from './replays.ts';

export const deadLetterGroup = defineGroup({
  name: 'dead-letter',
  summary: 'Payloads that were refused or could not be processed: read, replay, discard.',
  operations: [listDeadLetters, showDeadLetter, replayDeadLetters, showReplay, discardDeadLetter],
});
