/** Suggestions through the API: each has its request, is applied once with the caller's permissions, or dismissed. */
import test from 'ava';
import { alertAcknowledgements } from '../../schemas/resources/alert-rule.ts';
import { plans, plansTenant } from '../../schemas/resources/plan.ts';
import { createAlertId } from '../../subjects/alerts/state.ts';
import { landIn, logsRequest, messageOf, receivedAtMs, text, tracesRequest } from '../cases/sink-tables.ts';
import { type Answer, type Harness, startHarness } from './api-harness.ts';

let harness: Harness;
const nowMs = receivedAtMs + 60_000;
const atNs = String(BigInt(receivedAtMs - 60_000) * 1_000_000n);
const resource = { attributes: [text('service.name', 'orders')] };
let noisy: string;

/** Stores the past values of a rule with one group: 40 peaks of 12 and one of 500 in the last day. */
const landNoise = async (): Promise<void> => {
  const condition = {
    kind: 'threshold',
    thresholds: [{ severity: 'error', operator: 'above', value: 10 }],
    query: { kind: 'aggregate', signal: 'logs', search: 'service:carts', measures: [{ function: 'count' }] },
  };
  const { body } = await harness.request('POST', '/api/v2/alerts/rules', {
    as: 'editor',
    body: { name: 'Noisy', condition },
  });
  noisy = body.id;
  const alertId = createAlertId(noisy, '');
  const time = `fromUnixTimestamp64Milli(toInt64(${nowMs - 86_400_000} + number * 60000), 'UTC')`;
  const landed = `'t', ${time}, 0, number, 'test', number, 0`;
  const columns = 'topic, received_at, partition, offset, emitter, emitted_offset, emitted_part';
  await harness.columns.execute(
    `INSERT INTO alert_evaluations (tenant_id, project_id, rule_id, rule_version, time, alert_id, labels, state, severity, value, reason, error, duration_ms, late_ms, groups, firing, ordinal, ${columns})
    SELECT 'a', '', '${noisy}', 1, ${time}, '${alertId}', map(), 'inactive', '', if(number % 30 = 0, if(number = 600, 500, 12), 1), '', '', 1, 0, 1, 0, 0, ${landed} FROM numbers(41 * 30)`,
  );
  await harness.columns.execute(
    `INSERT INTO alert_transitions (tenant_id, project_id, id, alert_id, rule_id, rule_version, rule_name, time, from_state, to_state, severity, labels, annotations, value, reason, is_test, ${columns})
    SELECT 'a', '', toString(number), '${alertId}', '${noisy}', 1, 'Noisy', ${time}, 'inactive', 'firing', 'error', map(), map(), 12, '', false, ${landed} FROM numbers(41 * 30) WHERE number % 30 = 0`,
  );
  const startedAtMs = nowMs - 86_400_000 + 600 * 60_000;
  const seen = { ruleId: noisy, startedAtMs, by: 'somebody', at: new Date(startedAtMs).toISOString(), note: '' };
  await harness.documents
    .forTenant('a')
    .collection(alertAcknowledgements)
    .insert({ id: alertId, ...seen });
};

test.before(async () => {
  harness = await startHarness({ now: () => nowMs });
  await harness.documents
    .forTenant(plansTenant)
    .collection(plans)
    .update('free', { entitlements: ['ai', 'logs'] });
  const logRecords = Array.from({ length: 30 }, () => ({
    timeUnixNano: atNs,
    severityNumber: 17,
    body: { stringValue: 'order lost' },
  }));
  const logs = logsRequest({ resourceLogs: [{ resource, scopeLogs: [{ logRecords }] }] });
  const spans = Array.from({ length: 1200 }, (_, index) => ({
    traceId: Buffer.alloc(16, 1 + (index % 200)),
    spanId: Buffer.from(String(10_000_000 + index)),
    name: 'GET /',
    kind: 2,
    startTimeUnixNano: atNs,
    endTimeUnixNano: String(BigInt(atNs) + 1_000_000n),
    status: index < 3 ? { code: 2 } : {},
  }));
  const traces = tracesRequest({ resourceSpans: [{ resource, scopeSpans: [{ spans }] }] });
  const land = landIn(harness.columns);
  for (const tenantId of ['a', 'b'])
    await land([messageOf([logs], { tenantId, signal: 'logs', projectId: 'p1' })], { sink: 'logs' });
  await land([messageOf([traces], { tenantId: 'a', signal: 'traces', projectId: 'p1' })], { sink: 'traces' });
  await landNoise();
});
test.after.always(() => harness?.close());

type As = 'viewer' | 'editor' | `token ${string}`;
const list = (as: As = 'viewer'): Promise<Answer> => harness.request('GET', '/api/ai/suggestions', { as });
const suggested = async (kind: string, subject?: string, as: As = 'viewer') => {
  const { status, body } = await list(as);
  if (status !== 200 || body.missing.length > 0) throw new Error(JSON.stringify(body));
  return body.items.find(
    (each: { kind: string; subject: string }) => each.kind === kind && (subject ?? each.subject) === each.subject,
  );
};
const apply = (id: string, as: As = 'editor'): Promise<Answer> =>
  harness.request('POST', `/api/ai/suggestions/${id}/apply`, { as });
const actionsOf = async (): Promise<string[]> => {
  const { body } = await harness.request('GET', '/api/audit?limit=10', { as: 'admin' });
  return body.items.map(({ action }: { action: string }) => action);
};

test.serial(
  'an SLO is suggested for a service without one, and is created once, audited, with the permissions of the caller',
  async (t) => {
    const { id, request, evidence } = await suggested('slo', 'orders');
    t.regex(evidence, /orders served 1200 requests/);
    t.is((await apply(id, 'viewer')).status, 403);
    const responses = await Promise.all([apply(id), apply(id)]);
    t.deepEqual(
      responses.map(({ status }) => status).sort(),
      [200, 409],
      JSON.stringify(responses.map(({ body }) => body)),
    );
    const created = responses.find(({ status }) => status === 200)?.body.answer;
    t.like(created, request.body);
    t.is((await harness.request('GET', `/api/slos/${created.id}`, { as: 'viewer' })).status, 200);
    const actions = await actionsOf();
    t.true(actions.includes('suggestion.apply') && actions.includes('service-level-objective.create'), actions.join());
    t.is(await suggested('slo', 'orders'), undefined);
    t.is((await apply(id)).status, 409);
  },
);

test.serial(
  'a better threshold is suggested for a rule that fires too often; it is refused once the rule has changed',
  async (t) => {
    const { id, effect, request } = await suggested('noisy-rule', noisy);
    t.regex(effect, /^41 → 1 alerts in 7 days, none of the 1 acknowledged alerts would be lost$/);
    const { status, body } = await apply(id);
    t.is(status, 200, JSON.stringify(body));
    t.is(body.answer.condition.thresholds[0].value, request.body.condition.thresholds[0].value);
    t.is((await apply(id)).status, 409);
  },
);

test.serial('a dismissed suggestion stays hidden, and applying it is a conflict', async (t) => {
  const { id } = await suggested('detector', 'Error logs of services');
  const dismiss = (as: As) => harness.request('DELETE', `/api/ai/suggestions/${id}`, { as });
  t.is((await dismiss('viewer')).status, 403);
  t.is((await dismiss('editor')).status, 200);
  t.is(await suggested('detector', 'Error logs of services'), undefined);
  t.is((await apply(id)).status, 409);
  t.is((await dismiss('editor')).status, 409);
});

test.serial('an organization has suggestions of its own, and cannot access those of another', async (t) => {
  const token: As = `token ${await harness.signIn('owner@b.example')}`;
  const other = await suggested('detector', 'Error logs of services', token);
  t.is((await apply(other.id)).status, 404);
  t.is(await suggested('slo', 'orders', token), undefined);
  const created = await apply(other.id, token);
  t.is(created.status, 200, JSON.stringify(created.body));
});
