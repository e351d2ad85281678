import { spans } from '../../schemas/records/sources.ts';
import type { Span } from '../../schemas/records/span.ts';
import { topics } from '../../schemas/topics.ts';
import { mayContainSecret } from '../../subjects/secrets/prefilter.ts';
import { defineProcessor } from '../engine/definition.ts';
import { findRecordSecrets, listSpanTexts } from './record-secrets.ts';

const getReference = ({ traceId, spanId }: Span) => ({ signal: 'traces' as const, recordId: '', traceId, spanId });

/** Finds secrets in spans, their events and their resources. */
export const spanSecrets = defineProcessor({
  name: 'span-secrets',
  summary: 'Finds secrets in spans and their events.',
  reads: spans,
  emits: { findings: topics.secretFindings },
  entitlement: 'security',
  step(span, { emit }) {
    for (const finding of findRecordSecrets(span, { mayContainSecret, listTexts: listSpanTexts, getReference }))
      emit.findings(finding);
  },
});
