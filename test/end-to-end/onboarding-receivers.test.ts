/** Onboarding with real receivers: the snippet is accepted, and the doctor reports what receivers saw. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import test from 'ava';
import { createMemoryCounters } from '../../adapters/counters-memory.ts';
import { buildEndpoints } from '../../api/groups/onboarding/endpoints.ts';
import { keyPlaceholder } from '../../api/groups/onboarding/snippet.ts';
import { snippets } from '../../api/groups/onboarding/snippets.ts';
import { startReceivers } from '../../receivers/index.ts';
import { receivers } from '../../receivers/registry.ts';
import { generateLicenseKey } from '../../schemas/license-key-format.ts';
import { systemClock } from '../../schemas/ports/clock.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { silentMetrics } from '../../schemas/ports/metrics.ts';
import { buildLicenseKey, licenseKeys } from '../../schemas/resources/license-key.ts';
import { parseSettings } from '../../schemas/settings.ts';
import { running } from '../contract/receivers-fixture.ts';
import { type Answer, startHarness } from './api-harness.ts';

const run = promisify(execFile);

test('the request of the curl snippet is accepted', async (t) => {
  await using fixture = await running();
  const endpoints = { ...buildEndpoints(parseSettings({}), ''), otlpHttp: fixture.http };
  const [piece] = snippets.find(({ id }) => id === 'curl')?.pieces(endpoints) ?? [];
  const script = (piece?.text ?? '').replaceAll(keyPlaceholder, fixture.secret);
  const { stdout } = await run('sh', ['-c', script]);
  t.is(stdout, '{}');
  const [member] = fixture.bus.members();
  t.is(member?.records, 1);
  t.true(member?.bytes.includes('hello from curl'));
});

test('the endpoints of Loki and Zipkin are paths that receivers serve', (t) => {
  const { loki, zipkin } = buildEndpoints(parseSettings({}), '');
  const served = receivers.flatMap(({ listens }) =>
    listens.flatMap(({ setting, paths }) => (setting === 'HTTP_ADDRESS' ? Object.values(paths) : [])),
  );
  for (const endpoint of [loki, zipkin]) t.true(served.includes(new URL(endpoint).pathname), endpoint);
});

test('the doctor gets the outcome of a key’s requests from the receivers', async (t) => {
  const harness = await startHarness();
  t.teardown(() => harness.close());
  const keyOf = async (allowedCidrs: string[]): Promise<string> => {
    const key = generateLicenseKey();
    const fields = buildLicenseKey(key, { name: 'sender', projectId: 'shop', expiresAt: null });
    await harness.documents
      .forTenant('a')
      .collection(licenseKeys)
      .insert({ ...fields, allowedCidrs });
    return key;
  };
  const [open, closed] = [await keyOf([]), await keyOf(['10.0.0.0/8'])];
  const started = await startReceivers({
    bus: harness.bus,
    documents: harness.documents,
    counters: createMemoryCounters(),
    clock: systemClock,
    metrics: silentMetrics,
    log: silentLog,
    settings: parseSettings({ OIQ_OTLP_HTTP_ADDRESS: '127.0.0.1:0', OIQ_OTLP_GRPC_ADDRESS: '127.0.0.1:0' }),
  });
  const send = async (key: string): Promise<number> => {
    const headers = { 'x-license-key': key, 'content-type': 'application/json' };
    const body = '{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":{"stringValue":"x"}}]}]}]}';
    const url = `http://${started.addresses.OTLP_HTTP_ADDRESS}/v1/logs`;
    return (await fetch(url, { method: 'POST', headers, body })).status;
  };
  t.is(await send(open), 200);
  t.is(await send(closed), 403);
  // Receivers report it periodically and at their stop.
  await started.stop();
  const diagnose = (key: string): Promise<Answer> =>
    harness.request('POST', '/api/onboarding/doctor', { as: 'admin', body: { key } });
  const diagnosis = await diagnose(open);
  t.is(diagnosis.body.verdict, 'not-indexed-yet', JSON.stringify(diagnosis.body.findings));
  t.truthy(diagnosis.body.key.lastUsedAt);
  const blocked = await diagnose(closed);
  t.is(blocked.body.verdict, 'blocked-address', JSON.stringify(blocked.body.findings));
  t.regex(blocked.body.findings[0].message, /127\.0\.0\.1/);
});
