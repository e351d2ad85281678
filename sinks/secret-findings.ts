import { secretFindingsTable } from '../schemas/tables/secret-findings.ts';
import { topics } from '../schemas/topics.ts';
import { defineValueSink } from './engine/land-values.ts';

export const secretFindings = defineValueSink({
  topic: topics.secretFindings,
  table: secretFindingsTable,
  row: (finding) => ({
    tenant_id: finding.tenantId,
    project_id: finding.projectId,
    id: finding.id,
    finding_id: finding.findingId,
    time: new Date(finding.timeMs).toISOString(),
    signal: finding.signal,
    record_id: finding.recordId,
    trace_id: finding.traceId,
    span_id: finding.spanId,
    service: finding.service,
    field: finding.field,
    rule: finding.rule,
    fingerprint: finding.fingerprint,
    preview: finding.preview,
    key_hash: finding.keyHash,
    occurrences: finding.occurrences,
    is_redacted: finding.isRedacted,
  }),
});
