/** The area of objectives in a real browser: how each stands, and one with its budget and burn rates, as the API says. */
import test from 'ava';
import type { Stored } from '../../schemas/ports/documents.ts';
import { type StoredSlo, slos } from '../../schemas/resources/slo.ts';
import { measuring, minuteMs, telemetryIn } from '../cases/slos/measured-telemetry.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { holdsAsAView, signedInAt } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const name = 'Checkout <b>answers</b>';
let id = '';

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs;
  await telemetryIn(harness.columns).logs(
    'checkout',
    Array.from({ length: 20 }, (_, at) => ({ atMs: nowMs - (at + 2) * minuteMs, good: 50, bad: at % 5 === 0 ? 1 : 0 })),
  );
  const count = (search: string) => ({ kind: 'aggregate', signal: 'logs', search, measures: [{ function: 'count' }] });
  const sli = { bad: count('service:checkout AND severity:error'), total: count('service:checkout') };
  const body = { name, type: 'ratio', service: 'checkout', targetPct: 99, windowDays: 7, query: { sli } };
  const made = await harness.ask('POST', '/api/slos', { as: 'editor', body });
  if (made.status !== 200) throw new Error(JSON.stringify(made.body));
  id = made.body.id;
  const stored = (await harness.documents.of('a').collection(slos).find(id)) as StoredSlo & Stored;
  await measuring(harness)(stored, nowMs);
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

declare('an objective tells its indicator and budget, and beside it burn rates and a forecast', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signedInAt(tab, harness.url, '/slos');
  const { body } = await harness.ask('GET', `/api/slos/${id}/status`);
  const row = page.getByRole('row', { name });
  await row.waitFor();
  t.deepEqual(await row.getByRole('cell').allTextContents(), [
    ...[name, 'checkout', '99 %', '7', `${(100 * body.sli).toFixed(3)} %`, `${body.budget.leftPct.toFixed(1)} %`],
  ]);
  await row.getByRole('button').click();
  const beside = page.getByRole('complementary', { name: 'Objective' });
  const burns = beside.getByRole('table').first().getByRole('row');
  await burns.nth(body.burnRates.length).waitFor();
  const [first] = body.burnRates;
  t.deepEqual((await burns.nth(1).getByRole('cell').allTextContents()).slice(0, 2), [
    ...[first.window, first.rate === null ? 'not known' : first.rate.toFixed(2)],
  ]);
  await beside.getByRole('img', { name: /^Burn rate/ }).waitFor();
  await holdsAsAView(t, tab, '.beside h2');
});
