import { topics } from '../schemas/topics.ts';
import { defineSink } from './engine/sink.ts';

/** What receivers did not take. All else in the ledger is counted where it lands. */
export const usage = defineSink({
  name: 'usage',
  summary: 'Lands what receivers did not take, for the ledger.',
  inputs: [topics.usage],
  scanner: async () => (await import('./scan/usage-report-scanner.ts')).usageReportScanner(),
});
