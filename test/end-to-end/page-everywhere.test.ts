/**
 * Requirements for every view: accessible on small screens and zoomed, content of senders and users shown as text only,
 * nothing of another organization, and signing out clears all tabs.
 */
import test from 'ava';
import { text } from '../cases/sink-tables.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { landLogs } from './landed-logs.ts';
import { landedIn } from './landed-spans.ts';
import { findAxeViolations, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

/** Markup that would change the title of the page if it was executed. */
const hostile = `"><img src=x onerror="document.title='owned'"><script>document.title='owned'</script>\u202E{{7*7}}`;
/** Contained in all data of the other organization. */
const canary = 'canary-of-b';
const trace = 'a'.repeat(32);

/** The ID of a dashboard with a hostile name, panels and variables. */
let board = '';

/** Addresses of views, and an element that exists once they are shown. */
const views = (): readonly (readonly [address: string, shown: string])[] => [
  [`/dashboards/${board}`, '.panel .graph .node'],
  [`/dashboards/${board}?edit=true&sidePanel=variables`, '.variable[open] [role=status] bdi'],
  ['/services', '.services .extent .row'],
  ['/services?view=map', '.graph .node'],
  ['/logs?columns=hostile&wrap=on', '.records .extent .row'],
  ['/logs?view=patterns', '.patterns .extent .row'],
  ['/logs?view=live', '.live-bar'],
  ['/traces?atleast=1ms', '.traces .extent .row'],
  [`/traces/${trace}`, '.waterfall .extent .row'],
  [`/traces/${trace}?view=flame`, '.flame .box'],
  ['/explore-metrics', '.logs'],
  ['/alerts/rules', '.rules .extent .row'],
  ['/alerts/recording', 'main tbody tr'],
  ['/slos', 'main tbody tr'],
  ['/incidents', '.logs'],
  ['/incidents/figures', 'main h2'],
  ['/incidents/calendars', '.logs form'],
  ['/settings/contacts', '.logs'],
  ['/checks', '.logs'],
  ['/checks?open=new', '.form fieldset'],
  ['/checks/code', 'textarea'],
  ['/saved-queries?open=new', '.form select'],
  ['/detections/import', 'textarea'],
];

const landFor = async (tenantId: 'a' | 'b', word: string, offset: number): Promise<void> => {
  const now = BigInt(Date.now()) * 1_000_000n;
  const sent = { timeNs: now - 60_000_000_000n, body: `${word} body`, service: word, pod: word, scope: word };
  await landLogs(harness, [{ ...sent, attributes: [text('hostile', word), text(word, word)] }], { offset, tenantId });
  const landed = landedIn(harness);
  const span = { trace, service: word, name: word, start: now - 120_000_000_000n, kind: 2, status: 2 };
  await landed.spans([{ ...span, span: `00000000000000${tenantId}1`, duration: 900_000_000 }], { tenant: tenantId });
  const id = `00000000000000${tenantId}${tenantId}`;
  await harness.columns.execute(
    `INSERT INTO log_patterns (tenant_id, service, structure, pattern_id, places, shard, template, parameters, first_seen, last_seen) SELECT '${tenantId}', unhex('${Buffer.from(word).toString('hex')}'), 1, '${id}', [1], 0, unhex('${Buffer.from(word).toString('hex')}'), '[]', now64(3), now64(3)`,
  );
  await harness.columns.execute(
    `INSERT INTO log_pattern_counts (tenant_id, project_id, minute, service, pattern_id, severity, count, topic, received_at, offset) SELECT '${tenantId}', 'p1', toStartOfMinute(now() - INTERVAL 5 MINUTE), unhex('${Buffer.from(word).toString('hex')}'), '${id}', 'info', 7, 'log-pattern-counts', now64(3), ${offset}`,
  );
};

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  await landFor('a', hostile, 1);
  await landFor('b', canary, 2);
  const condition = {
    kind: 'threshold',
    thresholds: [{ severity: 'warning', operator: 'above', value: 1 }],
    query: { kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }] },
  };
  await harness.request('POST', '/api/alerts/rules', { as: 'owner', body: { name: hostile, condition } });
  const rules = [{ record: hostile, expression: 'up', labels: { hostile } }];
  for (const [path, body] of [
    ['/api/alerts/recording-groups', { name: hostile, rules }],
    ['/api/slos', { name: hostile, description: hostile, service: hostile }],
  ] as const) {
    const { status, body: answer } = await harness.request('POST', path, { as: 'owner', body });
    if (status !== 200) throw new Error(JSON.stringify(answer));
  }
  const query = { kind: 'aggregate', signal: 'logs', measures: [{ function: 'count' }], groupBy: ['service', 'pod'] };
  const queries = [{ name: 'A', answers: 'table', query }];
  const variables = [
    { kind: 'field-values', name: 'who', title: hostile, signal: 'logs', field: 'service', description: hostile },
    { kind: 'filters', name: 'only', title: hostile, always: [{ label: 'a', operator: '!=', values: [hostile] }] },
  ];
  const panels = ['node-graph', 'alerts', 'dashboards'].map((kind) => ({
    id: kind,
    title: `${hostile} ${kind}`,
    visual: { kind },
    queries: kind === 'node-graph' ? queries : [],
    place: { width: 12, height: 8 },
  }));
  const body = { name: hostile, description: hostile, panels, variables };
  const created = await harness.request('POST', '/api/dashboards', { as: 'owner', body });
  if (created.status !== 200) throw new Error(JSON.stringify(created.body));
  board = created.body.id;
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

/** Collects all responses of the API to a tab. */
const responseBodies = ({ page }: Tab): string[] => {
  const bodies: string[] = [];
  page.on('response', (response) => {
    if (response.url().includes('/api/'))
      response.text().then(
        (body) => bodies.push(body),
        () => undefined,
      );
  });
  return bodies;
};

for (const [title, width] of [
  ['on a screen of 320 pixels', 320],
  // 1280 pixels zoomed to 200 % are 640 CSS pixels.
  ['zoomed to 200 %', 640],
] as const)
  declare(`every view is accessible ${title}, in both themes, and shows user input as text`, async (t) => {
    const tab = await chromium.open();
    const { page } = tab;
    const bodies = responseBodies(tab);
    await page.setViewportSize({ width, height: 800 });
    await signInAndOpen(tab, harness.url, '/services', 'editor@a.example');
    for (const [address, shown] of views()) {
      await tab.go(harness.url + address);
      if (address.endsWith('variables')) await page.locator('.variable summary').first().click();
      await page.locator(shown).first().waitFor();
      for (const theme of ['light', 'dark'] as const) t.deepEqual(await findAxeViolations(tab, theme), [], address);
      t.is(await page.evaluate('document.documentElement.scrollWidth'), width, `${address} scrolls horizontally`);
      t.not(await page.title(), 'owned', address);
      t.is(await page.locator('main img, main script').count(), 0, address);
      t.notRegex((await page.locator('body').textContent()) ?? '', new RegExp(canary), address);
    }
    t.true(bodies.some((body) => body.includes('onerror')));
    t.deepEqual(
      bodies.filter((body) => body.includes(canary)),
      [],
    );
    t.deepEqual(tab.complaints, []);
  });

declare('signing out in one tab clears the others', async (t) => {
  const tab = await chromium.open();
  await signInAndOpen(tab, harness.url, '/logs');
  await tab.page.locator('.records .extent .row').first().waitFor();
  const other = await tab.page.context().newPage();
  await other.goto(`${harness.url}/traces`);
  await other.locator('.traces .extent .row').first().waitFor();
  await tab.page.locator('#account').click();
  await tab.page.locator('#sign-out').click();
  await tab.page.waitForURL('**/login*');
  await other.waitForURL('**/login*');
  t.notRegex((await other.locator('body').textContent()) ?? '', /onerror/);
});
