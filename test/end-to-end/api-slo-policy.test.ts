/** Error-budget policies: documents, alert rules, status, and the deployment gate. */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import type { StoredMetadata } from '../../schemas/ports/documents.ts';
import { type StoredSlo, slos } from '../../schemas/resources/slo.ts';
import { sloPolicies } from '../../schemas/resources/slo-policy.ts';
import { measuring, minuteMs, telemetryIn } from '../cases/slos/measured-telemetry.ts';
import { type Harness, startHarness } from './api-harness.ts';

const main = fileURLToPath(new URL('../../main.ts', import.meta.url));
let harness: Harness;
test.before(async () => {
  harness = await startHarness();
});
test.after.always(() => harness?.close());

const count = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
const create = async (service: string): Promise<StoredSlo & StoredMetadata> => {
  const sli = { bad: count(`service:${service} AND severity:error`), total: count(`service:${service}`) };
  const body = { name: service, type: 'ratio', windowDays: 1, targetPct: 90, query: { sli } };
  const response = await harness.request('POST', '/api/slos', { as: 'editor', body });
  if (response.status !== 200) throw new Error(JSON.stringify(response.body));
  return (await harness.documents.forTenant('a').collection(slos).find(response.body.id)) as StoredSlo & StoredMetadata;
};
const put = (id: string, steps: object[], headers = {}) =>
  harness.request('PUT', `/api/slos/${id}/policy`, { as: 'editor', body: { steps }, headers });
const rulesOf = async (sloId: string) => {
  const { body } = await harness.request('GET', '/api/alerts/rules?limit=200');
  return body.items
    .filter(({ id }: { id: string }) => id.startsWith(`${sloId}-policy-`))
    .toSorted((one: { id: string }, other: { id: string }) => (one.id < other.id ? -1 : 1));
};
const gate = (ids: readonly string[], token: string) =>
  new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', main, 'slo', 'gate', ...ids, '--api', harness.url],
      { env: { PATH: process.env['PATH'], SLO_TOKEN: token } },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });

const low = {
  name: 'Little left',
  budgetRemainingBelow: 50,
  severity: 'critical',
  labels: { team: 'shop' },
  freeze: true,
};
const fast = { name: 'Burns', burnRate: 2.5, window: '1h' };

test('steps are alert rules with their labels, and are deleted with the SLO', async (t) => {
  const slo = await create('stepped');
  t.deepEqual((await harness.request('GET', `/api/slos/${slo.id}/policy`)).body, { steps: [], version: 0 });
  const { body, status } = await put(slo.id, [low, fast]);
  t.is(status, 200, JSON.stringify(body));
  t.like(body, { version: 1, steps: [low, { ...fast, severity: 'warning', labels: {}, freeze: false }] });
  t.like(await rulesOf(slo.id), [
    {
      condition: {
        query: { kind: 'slo', figure: 'budget-left' },
        thresholds: [{ severity: 'critical', operator: 'below', value: 0.5 }],
      },
      labels: { team: 'shop', slo_id: slo.id, policy_step: 'Little left' },
    },
    { condition: { query: { windows: ['1h'] }, thresholds: [{ operator: 'at-least', value: 2.5 }] } },
  ]);
  t.is((await put(slo.id, [fast], { 'if-match': '"7"' })).status, 412);
  t.is((await put(slo.id, [fast], { 'if-match': '"1"' })).body.version, 2);
  t.is((await rulesOf(slo.id)).length, 1);
  t.is((await harness.request('DELETE', `/api/slos/${slo.id}`, { as: 'editor' })).status, 200);
  t.deepEqual(await rulesOf(slo.id), []);
  t.is(await harness.documents.forTenant('a').collection(sloPolicies).find(slo.id), undefined);
});

test('an error in a step is reported with its path', async (t) => {
  const slo = await create('wrong');
  for (const [steps, path] of [
    [[{ name: 'None' }], 'steps.0.burnRate'],
    [[{ ...low, burnRate: 1, window: '1h' }], 'steps.0.burnRate'],
    [[{ name: 'Rate', burnRate: 1 }], 'steps.0.window'],
    [[low, low], 'steps.1.name'],
    [[{ ...low, window: '1h' }], 'steps.0.window'],
  ] as const) {
    const response = await put(slo.id, steps as unknown as object[]);
    t.is(response.status, 400, path);
    t.deepEqual(
      response.body.details.map((detail: { path: string }) => detail.path),
      [path],
    );
  }
  t.is((await put('none', [low])).status, 404);
});

test('the status shows which steps are active, exactly at their boundaries, and the gate ends with them', async (t) => {
  const { logs } = telemetryIn(harness.columns);
  const slo = await create('gated');
  const endMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  // Five of 100 are bad and ten are allowed: half of the budget is left, and the burn rate is 0.5.
  await logs('gated', [{ atMs: endMs - 10 * minuteMs, good: 95, bad: 5 }]);
  await measuring(harness)(slo, endMs);
  const token = await harness.signIn('viewer@a.example');
  const policyStatus = async (steps: object[]) => {
    await put(slo.id, steps);
    return (await harness.request('GET', `/api/slos/${slo.id}/status`)).body.policy;
  };
  t.is((await harness.request('GET', `/api/slos/${slo.id}/status`)).body.policy, null);
  const at = { ...low, budgetRemainingBelow: 50 };
  t.like(await policyStatus([at, { name: 'Rate', burnRate: 0.5, window: '1h', freeze: false }]), {
    frozen: false,
    steps: [
      { name: 'Little left', isMet: false, freeze: true },
      { name: 'Rate', isMet: true, freeze: false },
    ],
  });
  const open = await gate([slo.id], token);
  t.is(open.code, 0, open.err);
  t.regex(open.out, /^open {3}\S+: 50 % of the budget is left\n$/);
  t.like(await policyStatus([{ ...at, budgetRemainingBelow: 50.1 }]), { frozen: true });
  const frozen = await gate([slo.id], token);
  t.is(frozen.code, 3, frozen.err);
  t.regex(frozen.out, /^frozen \S+: 50 % of the budget is left \(Little left\)\n$/);
  t.like(await policyStatus([{ name: 'Unknown', burnRate: 1, window: '5m', freeze: true }]), {
    frozen: false,
    steps: [{ isMet: null }],
  });
  const none = await gate(['none'], token);
  t.is(none.code, 1);
  t.regex(none.err, /404/);
});
