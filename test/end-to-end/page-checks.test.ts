/** The area of synthetic checks in a real browser: how each stands, one with its runs and days, and a run by hand, as the API says. */
import test from 'ava';
import { syntheticProbeContacts } from '../../schemas/resources/synthetic-location.ts';
import { syntheticPictures } from '../../schemas/resources/synthetic-picture.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { holdsAsAView, signedInAt } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const name = 'Shop <b>answers</b>';
let id = '';
let far = '';
const minuteMs = 60_000;
const nowMs = Math.floor(Date.now() / minuteMs) * minuteMs;

/** As a step of a browser tells it. */
const seenPage = {
  ...{ url: 'https://shop.example/<cart>', vitals: { cls: 0.2, lcp: 1234.5 }, leftOut: 3 },
  requests: [
    {
      method: 'GET',
      url: 'https://shop.example/',
      type: 'document',
      status: 200,
      startMs: 0,
      durationMs: 50,
      bytes: 1500,
    },
    {
      ...{ method: 'GET', url: 'https://cdn.example/x', type: 'image' },
      status: null,
      startMs: 60,
      durationMs: 40,
      bytes: null,
      failure: 'net::ERR_FAILED',
    },
  ],
  errors: ['cart is <undefined>'],
};

const made = async (path: string, body: object) => {
  const answer = await harness.ask('POST', path, { as: 'admin', body });
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

/** Runs and states as the sinks land them. */
const land = async (): Promise<void> => {
  const at = (ms: number): string => `fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC')`;
  const phases = { lookup: 1.5, connect: 10, wait: 200 };
  const runs = Array.from({ length: 12 }, (_, number) => {
    const place = number % 2 === 0 ? 'local' : far;
    const isBad = number === 3;
    const message = isBad ? 'the status was <i>500</i>' : '';
    const told = { outcome: 'passed', phases, message: '', status: 200 };
    const steps = [
      { ...told, name: 'open', page: seenPage },
      { ...told, name: 'buy' },
    ];
    return `('a', 'default', '${id}', '${place}', ${at(nowMs - number * minuteMs - minuteMs)}, 0, 1, ${at(nowMs - number * minuteMs)}, '${isBad ? 'failed' : 'passed'}', 1, 211.5, '${JSON.stringify(phases)}', '${number === 0 ? JSON.stringify(steps) : '[]'}', '${message}', '${'c'.repeat(31)}${number.toString(16)}')`;
  });
  await harness.columns.execute(
    `INSERT INTO synthetic_runs (tenant_id, project_id, check_id, location, due, is_manual, earliness, started, outcome, attempts, duration_ms, phases, steps, message, trace_id) VALUES ${runs.join(', ')}`,
  );
  const hourMs = 60 * minuteMs;
  // So long ago that shares do not change while they are read.
  const states = [
    ['', 500, 'up'],
    ['', 12, 'down'],
    ['', 11, 'up'],
    ['', 1, 'degraded'],
    ['local', 500, 'up'],
    [far, 500, 'up'],
    [far, 12, 'down'],
    [far, 11, 'up'],
  ] as const;
  await harness.columns.execute(
    `INSERT INTO synthetic_states (tenant_id, check_id, location, at, state) VALUES ${states
      .map(([place, hours, state]) => `('a', '${id}', '${place}', ${at(nowMs - hours * hourMs)}, '${state}')`)
      .join(', ')}`,
  );
};

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  far = (await made('/api/synthetics/locations', { name: 'Far & away' })).id;
  const steps = [{ url: 'https://shop.example/' }];
  id = (await made('/api/synthetics/checks', { name, type: 'http', http: { steps }, locations: ['local', far] })).id;
  await harness.documents
    .of('a')
    .collection(syntheticProbeContacts)
    .insert({
      ...{ location: far, probe: 'p', heardAt: new Date(nowMs - 60 * minuteMs).toISOString() },
      cannot: [{ type: 'http', reason: 'there is no <program>' }],
      clockAheadMs: -90_000,
    });
  await land();
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

const percent = (share: number): string => `${(100 * share).toFixed(3)} %`;

declare('a check tells its state, since when, and its uptime of 1, 30 and 90 days', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signedInAt(tab, harness.url, '/checks');
  const { body } = await harness.ask('GET', `/api/synthetics/checks/${id}`);
  const row = page.getByRole('row', { name });
  const cells = row.getByRole('cell');
  await row.waitFor();
  t.is(body.state, 'degraded');
  t.true(body.uptime.day < 1);
  t.is(await cells.nth(1).textContent(), 'degraded');
  t.not(await cells.nth(2).textContent(), '');
  const { day, days30, days90 } = body.uptime;
  t.deepEqual((await cells.allTextContents()).slice(3), [percent(day), percent(days30), percent(days90), 'http', '1m']);
  await holdsAsAView(t, tab, 'table');
});

declare('one shows its runs with their phases, why one failed, and each day of its locations', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signedInAt(tab, harness.url, `/checks?open=${id}`);
  const beside = page.getByRole('complementary', { name: 'Check' });
  const runs = beside.getByRole('region', { name: 'Runs' }).getByRole('row');
  const { body } = await harness.ask('GET', `/api/synthetics/checks/${id}/runs`);
  await runs.nth(body.items.length).waitFor();
  t.is(await runs.count(), body.items.length + 1);
  const failed = runs.filter({ hasText: 'the status was <i>500</i>' });
  t.deepEqual((await failed.getByRole('cell').allTextContents()).slice(1, 4), ['Far & away', 'failed', '212 ms']);
  await failed.getByRole('img', { name: 'lookup 1.5 ms, connect 10.0 ms, wait 200 ms' }).waitFor();
  await beside.getByText('2 steps').click();
  await beside.getByRole('listitem').filter({ hasText: 'buy: passed 200' }).waitFor();
  await beside.getByText('https://shop.example/<cart>: largest paint 1,235 ms, layout shift 0.2').waitFor();
  await beside.getByRole('list', { name: 'Errors of the page' }).getByText('cart is <undefined>').waitFor();
  await beside.getByText('5 requests').click();
  const requests = beside.getByRole('region', { name: 'Requests' });
  await requests.getByText('3 more requests are not kept.').waitFor();
  const [, document = '', image = ''] = await requests.getByRole('row').allTextContents();
  t.is(document, 'GET https://shop.example/document2001,500');
  t.is(image, 'GET https://cdn.example/ximagenet::ERR_FAILED');
  await requests.getByRole('img', { name: 'from 60.0 ms on, for 40.0 ms' }).waitFor();
  await beside.getByRole('img', { name: /^Far & away: of \d+ days that are known [12] had an outage: / }).waitFor();
  await beside.getByRole('img', { name: /^Local: of \d+ days that are known 0 had an outage$/ }).waitFor();
  const cannot = beside.getByRole('list', { name: 'Locations that cannot run it' });
  await cannot.getByText('Far & away cannot run it: there is no <program>').waitFor();
  const clocks = beside.getByRole('list', { name: 'Locations whose clocks differ' });
  t.deepEqual(await clocks.getByRole('listitem').allTextContents(), [
    'The clock of Far & away is 90,000 ms behind; times are shown by the platform’s.',
  ]);
  await beside.getByText('Running it now is for editor, admin, and owner; your role is viewer.').waitFor();
  await holdsAsAView(t, tab, '.beside h2');
});

declare('an editor runs it now, and is told of each location what came or why nothing did', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signedInAt(tab, harness.url, `/checks?open=${id}`, 'editor@a.example');
  await page.getByRole('button', { name: 'Run now' }).click();
  const { items } = (await harness.ask('POST', `/api/synthetics/checks/${id}/run`, { as: 'editor', body: {} })).body;
  const told = page.getByRole('status').getByRole('listitem');
  await told.nth(1).waitFor();
  t.deepEqual(await told.allTextContents(), [`Local: ${items[0].reason}`, `Far & away: ${items[1].reason}`]);
  await holdsAsAView(t, tab, '.beside h2');
});

declare('an editor tries it with changes that are not saved, and is told what of them is wrong', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signedInAt(tab, harness.url, `/checks?open=${id}`, 'editor@a.example');
  await page.getByText('Try it with changes').click();
  const field = page.getByLabel('The check as JSON; nothing of it is saved');
  const written = JSON.parse(await field.inputValue());
  t.is(written.http.steps[0].url, 'https://shop.example/');
  const tryWith = async (text: string) => {
    await field.fill(text);
    await page.getByRole('button', { name: 'Try', exact: true }).click();
  };
  await tryWith('{');
  await page.getByRole('alert').filter({ hasText: 'This is no JSON' }).waitFor();
  const at = (url: string) => JSON.stringify({ ...written, locations: [far], http: { steps: [{ url }] } });
  await tryWith(at('shop.example'));
  await page.getByRole('alert').filter({ hasText: 'check.http.steps.0.url' }).waitFor();
  await tryWith(at('https://other.example/'));
  const told = page.getByRole('status').getByRole('listitem');
  await told.waitFor();
  t.deepEqual(await told.allTextContents(), ['Far & away: no probe of this location was heard from lately']);
  t.is((await harness.ask('GET', `/api/synthetics/checks/${id}`)).body.version, 1);
  await holdsAsAView(t, tab, '.beside h2');
});

declare('a check of a browser shows how its page looked, as far as it is known', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  const browser = { steps: [{ action: 'goto', url: 'https://shop.example/' }] };
  const { id: checkId } = await made('/api/synthetics/checks', { name: 'Seen', type: 'browser', browser });
  const content = (await page.screenshot({ type: 'jpeg', clip: { x: 0, y: 0, width: 8, height: 8 } })).toString(
    'base64',
  );
  await harness.documents
    .of('a')
    .collection(syntheticPictures)
    .insert({ checkId, location: 'local', kind: 'failed', dueMs: nowMs, content });
  await signedInAt(tab, harness.url, `/checks?open=${checkId}`);
  const picture = page.getByRole('img', { name: 'The page at the end of the last failed run' });
  await picture.waitFor();
  await page.getByText('Local, last failed run:').waitFor();
  t.is(await picture.evaluate((image) => (image as unknown as { naturalWidth: number }).naturalWidth), 8);
  t.is(await page.getByRole('img', { name: /^The page at the end/ }).count(), 1);
  await holdsAsAView(t, tab, '.beside h2');
});
