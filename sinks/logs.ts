import { logsTable } from '../schemas/tables/logs.ts';
import { topics } from '../schemas/topics.ts';
import { defineSink } from './engine/sink.ts';

/** Lands log records, one row each. */
export const logs = defineSink({
  name: 'logs',
  summary: 'Lands log records, and their resources.',
  inputs: [topics.logs],
  watermarkTable: logsTable,
  scanner: async () => (await import('./scan/log-scanner.ts')).createLogScanner(),
});
