import type { Operation } from '../../kernel/operation.ts';
import { discardDeadLetter } from './discard.ts';
import { listDeadLetters } from './list.ts';
import { replayDeadLetters } from './replay.ts';
import { showDeadLetter } from './show.ts';
import { showReplay } from './show-replay.ts';

export const deadLetterOperations: readonly Operation[] = [
  listDeadLetters,
  showDeadLetter,
  replayDeadLetters,
  showReplay,
  discardDeadLetter,
];
