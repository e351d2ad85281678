import { topics } from './topics.ts';

/** Consumer groups that write the ledger, with what they read: while one of them lags, the ledger lacks what is under way. */
export const ledgerGroups: readonly { readonly group: string; readonly topics: readonly string[] }[] = [
  { group: 'logs', topics: [topics.logs.name] },
  { group: 'metrics', topics: [topics.metrics.name, topics.remoteWrite.name] },
  { group: 'traces', topics: [topics.traces.name] },
  { group: 'dead-letters', topics: [topics.deadLetter.name, topics.deadLetterMarks.name] },
  { group: 'usage', topics: [topics.usage.name] },
];
