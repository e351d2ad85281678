import { z } from 'zod';
import { projectScopeParameters } from '../../../queries/project-scope.ts';
import { serviceParameter } from '../../../queries/range.ts';
import { secretTriages } from '../../../schemas/resources/security-triage.ts';
import { secretRules } from '../../../subjects/secrets/rules.ts';
import { readStoredSecrets, type StoredSecret } from '../../../subjects/secrets/stored-findings.ts';
import { readTriages, type StoredTriage } from '../../../subjects/security/stored-triages.ts';
import { createNotFoundError } from '../../errors.ts';
import { defineOperation } from '../../kernel/operation.ts';
import { createQueryReader } from '../../kernel/query-reader.ts';
import { idParameter } from '../../resources/resource-operations.ts';
import { findingsParameters, getFindingsPage, getRetainedRange, parseFindingsPage } from './lists.ts';
import { OwnKey, type OwnKeyReader, readOwnKeys } from './own-keys.ts';
import { changeTriage, isInState, stateParameter, TriageBody, toTriageView, triageView } from './triage.ts';

const SecretView = z.strictObject({
  id: z.string(),
  rule: z.string(),
  description: z.string(),
  service: z.string(),
  projectId: z.string(),
  field: z.string().describe('Field of the records: `body`, or an attribute such as `attribute.http.url`'),
  signals: z.array(z.enum(['logs', 'traces'])),
  records: z.int().describe('Records with the secret'),
  count: z.int().describe('Occurrences in these records'),
  firstTime: z.string(),
  lastTime: z.string(),
  preview: z
    .string()
    .describe('Beginning of the secret: at most a quarter of it, and four characters; empty if it was replaced'),
  fingerprint: z.string().describe('HMAC of the secret. Findings of one secret have the same one'),
  isRedacted: z.boolean().describe('Whether it was replaced in all of these records before they were stored'),
  lastRecord: z
    .strictObject({ recordId: z.string(), traceId: z.string(), spanId: z.string() })
    .describe('The latest record, for `GET /api/logs/{id}` or `GET /api/traces/{traceId}`'),
  ownKey: OwnKey.nullable().describe('Set for keys of this platform'),
  ...triageView,
});
type SecretView = z.input<typeof SecretView>;

const descriptions = new Map(secretRules.map(({ id, description }) => [id, description]));

const toView = (
  secret: StoredSecret,
  { triage, nowMs, getOwnKey }: { triage: StoredTriage | undefined; nowMs: number; getOwnKey: OwnKeyReader },
): SecretView => ({
  id: secret.id,
  rule: secret.found_rule,
  description: descriptions.get(secret.found_rule) ?? '',
  service: secret.found_service,
  projectId: secret.project,
  field: secret.found_field,
  signals: [...secret.signals].sort(),
  records: Number(secret.records),
  count: Number(secret.total),
  firstTime: new Date(Number(secret.first_ms)).toISOString(),
  lastTime: new Date(Number(secret.last_ms)).toISOString(),
  preview: secret.found_preview,
  fingerprint: secret.found_fingerprint,
  isRedacted: secret.redacted === secret.records,
  lastRecord: { recordId: secret.last_record_id, traceId: secret.last_trace_id, spanId: secret.last_span_id },
  ownKey: getOwnKey(secret),
  ...toTriageView(triage, Number(secret.last_ms), nowMs),
});

export const listSecrets = defineOperation({
  method: 'GET',
  path: '/api/security/secrets',
  operationId: 'listSecrets',
  summary: 'List secrets in telemetry, those with the latest occurrence first. Their text is stored nowhere',
  role: 'viewer',
  query: z.strictObject({
    ...findingsParameters,
    ...projectScopeParameters,
    ...serviceParameter,
    rule: z.string().max(128).optional().describe('Id of the rule, such as github-pat'),
    fingerprint: z.string().max(64).optional(),
    key: z.enum(['active']).optional().describe('active: only keys of this platform that still work'),
    state: stateParameter,
  }),
  response: z.strictObject({ items: z.array(SecretView), nextCursor: z.string().nullable() }),
  async handler({ caller, query }, ports) {
    const reader = createQueryReader(caller, ports);
    const { range, after } = parseFindingsPage('secrets', query, reader);
    const documents = ports.documents.forTenant(caller.tenantId);
    const [secrets, triages] = await Promise.all([
      readStoredSecrets(reader, query, range),
      readTriages(documents, secretTriages),
    ]);
    const getOwnKey = await readOwnKeys(documents, secrets, reader.nowMs);
    const views = secrets
      .map((secret) => toView(secret, { triage: triages.get(secret.id), nowMs: reader.nowMs, getOwnKey }))
      .filter((view) => isInState(view, query.state) && (query.key === undefined || view.ownKey?.isActive === true));
    return getFindingsPage('secrets', views, {
      range,
      after,
      limit: query.limit,
      getSortValue: ({ lastTime }) => lastTime,
    });
  },
});

export const triageSecret = defineOperation({
  method: 'PATCH',
  path: '/api/security/secrets/{id}',
  operationId: 'triageSecret',
  summary: 'Resolve, ignore, accept, reopen or assign a secret in telemetry',
  role: 'editor',
  audit: 'secret.triage',
  versions: 'write',
  params: idParameter,
  body: TriageBody,
  response: SecretView,
  async handler({ caller, params, body, request, change }, ports) {
    const reader = createQueryReader(caller, ports);
    const [secret] = await readStoredSecrets(reader, { id: params.id }, getRetainedRange(reader));
    if (secret === undefined) throw createNotFoundError('secret');
    const triage = await change((scope) =>
      changeTriage(scope, {
        caller,
        request,
        body,
        collection: secretTriages,
        id: secret.id,
        name: secret.found_rule,
        noun: 'secret',
        nowMs: reader.nowMs,
      }),
    );
    const getOwnKey = await readOwnKeys(ports.documents.forTenant(caller.tenantId), [secret], reader.nowMs);
    return toView(secret, { triage, nowMs: reader.nowMs, getOwnKey });
  },
});
