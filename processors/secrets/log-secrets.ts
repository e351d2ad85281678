import type { LogRecord } from '../../schemas/records/log-record.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { topics } from '../../schemas/topics.ts';
import { mayContainSecret } from '../../subjects/secrets/prefilter.ts';
import { defineProcessor } from '../engine/definition.ts';
import { findRecordSecrets, listLogTexts } from './record-secrets.ts';

const getReference = ({ recordId, traceId, spanId }: LogRecord) => ({
  signal: 'logs' as const,
  recordId,
  traceId,
  spanId,
});

/** Finds secrets in log records and their resources. */
export const logSecrets = defineProcessor({
  name: 'log-secrets',
  summary: 'Finds secrets in log records.',
  reads: logRecords,
  emits: { findings: topics.secretFindings },
  entitlement: 'security',
  step(record, { emit }) {
    for (const finding of findRecordSecrets(record, { mayContainSecret, listTexts: listLogTexts, getReference }))
      emit.findings(finding);
  },
});
