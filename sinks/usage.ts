import { topics } from '../schemas/topics.ts';
import { defineSink } from './engine/sink.ts';

/** Volume that receivers rejected. The sinks of the stored data write all other ledger rows. */
export const usage = defineSink({
  name: 'usage',
  summary: 'Lands rejected requests, for the ledger.',
  inputs: [topics.usage],
  scanner: async () => (await import('./scan/usage-report-scanner.ts')).createUsageReportScanner(),
});
