import { topics } from '../schemas/topics.ts';
import { defineSink } from './engine/sink.ts';

/** Volume that receivers rejected. All other rows of the ledger are written where the volume lands. */
export const usage = defineSink({
  name: 'usage',
  summary: 'Lands what receivers did not take, for the ledger.',
  inputs: [topics.usage],
  scanner: async () => (await import('./scan/usage-report-scanner.ts')).usageReportScanner(),
});
