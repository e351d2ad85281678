import { spans } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { defineProcessor } from '../engine/definition.ts';
import { EdgeCounts } from './counts.ts';
import { countCall, flush } from './flush.ts';
import { observeSpan } from './observe.ts';

/** Extracts call ends from spans. Spans of a trace are in several partitions; the two ends of a call meet in one. */
export const callEnds = defineProcessor({
  name: 'call-ends',
  summary: 'Extracts the two ends of each call from spans, and counts database and queue calls by minute.',
  reads: spans,
  emits: { ends: topics.callEnds, edges: topics.serviceEdges },
  state: {
    version: 1,
    open: (saved) => new EdgeCounts(saved === undefined ? undefined : JSON.parse(Buffer.from(saved).toString('utf8'))),
    save: (counts) => Buffer.from(JSON.stringify(counts.save())),
    size: ({ entries, bytes }) => ({ entries, bytes, evicted: 0 }),
  },
  step(span, context) {
    const { emit, state } = context;
    observeSpan(span, {
      end(end) {
        if (end.traceId === '' || end.callerId === '') context.drop('no-id');
        else emit.ends(end);
      },
      call: (edge, call) => countCall(state, edge, call, context, emit.edges),
    });
  },
  timer: (_, { tenantId, state, emit }) => flush(state, tenantId, emit.edges),
});
