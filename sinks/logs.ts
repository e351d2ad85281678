import { topics } from '../schemas/topics.ts';
import { defineSink } from './engine/sink.ts';
import { logScanner } from './scan/log-scanner.ts';

/** Log records, one row each. */
export const logs = defineSink({
  name: 'logs',
  summary: 'Lands log records, and the resources that sent them.',
  inputs: [topics.logs],
  scanner: logScanner,
});
