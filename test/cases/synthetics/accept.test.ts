/** Results of unscheduled runs, which a probe resends until the platform confirms them. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { openSqliteDocuments } from '../../../adapters/documents-sqlite/documents-sqlite.ts';
import { syntheticChecks } from '../../../schemas/resources/synthetic-check.ts';
import { syntheticRunRequests } from '../../../schemas/resources/synthetic-run-request.ts';
import type { ProbeResult } from '../../../schemas/synthetic-work.ts';
import { acceptResults } from '../../../subjects/synthetics/accept.ts';
import { CheckFields } from '../../../subjects/synthetics/check.ts';

const nowMs = Date.parse('2026-03-01T12:00:00Z');
const resultOf = (requestId: string, trace: string): ProbeResult => ({
  checkId: 'c',
  requestId,
  dueMs: nowMs,
  startedAtMs: nowMs,
  traceId: trace.repeat(32),
  attempts: 1,
  outcome: 'failed',
  durationMs: 1,
  phases: {},
  steps: [],
  message: '',
});

test('a resent result is published again as stored, and a different result of the same run is rejected', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'accept-'));
  const documents = await openSqliteDocuments({ path: join(directory, 'documents.db') });
  t.teardown(async () => {
    await documents.close();
    rmSync(directory, { recursive: true });
  });
  await documents.ensureCollections([syntheticChecks, syntheticRunRequests]);
  const own = documents.forTenant('a');
  const icmp = { host: 'router.example' };
  const fields = CheckFields.parse({ name: 'c', type: 'icmp', icmp, locations: ['here', 'there'] });
  await own.collection(syntheticChecks).insert({ id: 'c', ...fields });
  const runRequest = { checkId: 'c', locations: ['here'], requestedAtMs: nowMs, isElsewhere: true, results: {} };
  await own.collection(syntheticRunRequests).insert({ id: 'asked', ...runRequest });
  const send = (trace: string, location = 'here', laterMs = 0) =>
    acceptResults(own, [resultOf('asked', trace)], { tenantId: 'a', location, nowMs: nowMs + laterMs });

  const { runs } = await send('1');
  t.is(runs.length, 1);
  // The platform crashed before it published the result, or before it confirmed it.
  t.deepEqual(await send('1', 'here', 5000), { runs, rejected: [] });
  for (const other of [await send('2'), await send('1', 'there')]) {
    t.deepEqual(other.runs, []);
    t.is(other.rejected.length, 1);
  }
});
