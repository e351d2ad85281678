import { topics } from '../schemas/topics.ts';
import { defineSink } from './engine/sink.ts';

/** Lands the messages of the dead-letter topic, and marks for replayed and discarded ones. */
export const deadLetters = defineSink({
  name: 'dead-letters',
  summary: 'Lands dead letters for listing, and the marks of replayed and discarded dead letters.',
  inputs: [topics.deadLetter, topics.deadLetterMarks],
  unprocessable: 'drop',
  scanner: async () => (await import('./scan/dead-letter-scanner.ts')).createDeadLetterScanner(),
});
