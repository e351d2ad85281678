import { topics } from '../schemas/topics.ts';
import { defineSink } from './engine/sink.ts';

/** What lies on the dead-letter topic, and what became of it. */
export const deadLetters = defineSink({
  name: 'dead-letters',
  summary: 'Lands dead letters for listing, and the marks of replayed and discarded ones.',
  inputs: [topics.deadLetter, topics.deadLetterMarks],
  unprocessable: 'drop',
  scanner: async () => (await import('./scan/dead-letter-scanner.ts')).deadLetterScanner(),
});
