import { topics } from '../schemas/topics.ts';
import { defineSink } from './engine/sink.ts';

/** Signed heads of the audit chains, out of reach of whoever holds the documents. */
export const evidenceHeads = defineSink({
  name: 'evidence-heads',
  summary: 'Lands signed heads of the audit chains.',
  inputs: [topics.evidenceHeads],
  unprocessable: 'drop',
});
