import { computedBodySearch } from '../../schemas/tables/search.ts';
import { defineSignal } from './definition.ts';
import { llmCallFields, llmCallsSource } from './llm-calls-source.ts';

/** Calls of language models. They are derived from spans, so the retention of traces applies. */
export const llm = defineSignal({
  records: 'calls of language models',
  entitlement: 'llm',
  group: 'llm',
  retentionDays: ({ traces }) => traces,
  newest: { table: 'llm_calls', time: 'timestamp' },
  fields: llmCallFields,
  text: computedBodySearch,
  hasAttributeIndex: false,
  queryable: { table: 'llm_calls', from: llmCallsSource, unit: '{call}', hasReplacedRows: true },
});
