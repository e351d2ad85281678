import { topics } from '../schemas/topics.ts';
import { toConsumerGroup } from './consumer-groups.ts';

/** Consumer groups that write the ledger, with the topics that they read. While one lags, the ledger is incomplete. */
export const ledgerGroups: readonly { readonly group: string; readonly topics: readonly string[] }[] = [
  { group: toConsumerGroup('sinks', 'logs'), topics: [topics.logs.name] },
  { group: toConsumerGroup('sinks', 'metrics'), topics: [topics.metrics.name, topics.remoteWrite.name] },
  { group: toConsumerGroup('sinks', 'traces'), topics: [topics.traces.name] },
  { group: toConsumerGroup('sinks', 'dead-letters'), topics: [topics.deadLetter.name, topics.deadLetterMarks.name] },
  { group: toConsumerGroup('sinks', 'usage'), topics: [topics.usage.name] },
];
