import { spansTable } from '../schemas/tables/spans.ts';
import { topics } from '../schemas/topics.ts';
import { defineSink } from './engine/sink.ts';

/** Lands spans, one row each, with events and links. */
export const traces = defineSink({
  name: 'traces',
  summary: 'Lands spans, and their resources.',
  inputs: [topics.traces],
  watermarkTable: spansTable,
  scanner: async () => (await import('./scan/span-scanner.ts')).createSpanScanner(),
});
