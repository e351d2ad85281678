import { topics } from '../schemas/topics.ts';
import { consumerGroup } from './consumer-groups.ts';

/** Consumer groups that write the ledger, with the topics that they read. While one lags, the ledger is incomplete. */
export const ledgerGroups: readonly { readonly group: string; readonly topics: readonly string[] }[] = [
  { group: consumerGroup('sinks', 'logs'), topics: [topics.logs.name] },
  { group: consumerGroup('sinks', 'metrics'), topics: [topics.metrics.name, topics.remoteWrite.name] },
  { group: consumerGroup('sinks', 'traces'), topics: [topics.traces.name] },
  { group: consumerGroup('sinks', 'dead-letters'), topics: [topics.deadLetter.name, topics.deadLetterMarks.name] },
  { group: consumerGroup('sinks', 'usage'), topics: [topics.usage.name] },
];
