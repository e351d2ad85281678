import { topics } from '../schemas/topics.ts';
import { defineSink } from './engine/sink.ts';

/** The messages of the dead-letter topic, and whether they were replayed or discarded. */
export const deadLetters = defineSink({
  name: 'dead-letters',
  summary: 'Lands dead letters for listing, and the marks of replayed and discarded ones.',
  inputs: [topics.deadLetter, topics.deadLetterMarks],
  unprocessable: 'drop',
  scanner: async () => (await import('./scan/dead-letter-scanner.ts')).deadLetterScanner(),
});
