/**
 * First tasks of a new user, on a desktop and on a phone, with demo data on a standalone, through visible controls
 * only: no JSON, no copied ID, few clicks.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import type { Locator, Page } from 'playwright-core';
import { type ChannelReceiver, startChannelReceiver } from '../cases/channel-receiver.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { eventually } from '../waiting.ts';
import { type Chromium, startChromium, type Tab } from './chromium.ts';
import { type OiqProcess, owner, read, signIn, startOiq } from './oiq-process.ts';

const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

interface Screen {
  readonly name: string;
  readonly isPhone: boolean;
  readonly maxClicks: number;
  /** Suffix for the names of created resources */
  readonly suffix: string;
}
// On a phone the menu is behind a button.
const screens: readonly Screen[] = [
  { name: 'a desktop', isPhone: false, maxClicks: 10, suffix: '' },
  { name: 'a phone', isPhone: true, maxClicks: 12, suffix: ' 2' },
];

let directory: string;
let oiq: OiqProcess;
let chromium: Chromium;
let receiver: ChannelReceiver;
let desktop: Tab;
let phone: Tab;
let tab: Tab;
let page: Page;
let token = '';

// biome-ignore lint/suspicious/noExplicitAny: of responses of the API
const get = (path: string): Promise<any> => read(oiq.http, path, token);

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  directory = await mkdtemp(join(tmpdir(), 'oiq-page-tasks-'));
  const environment = { OIQ_OUTBOUND_NETWORKS: '127.0.0.0/8' };
  [oiq, chromium, receiver] = await Promise.all([
    startOiq({ dataDirectory: directory, environment }),
    startChromium(),
    startChannelReceiver(),
  ]);
  token = await signIn(oiq.http);
  desktop = await chromium.open();
  tab = desktop;
  page = tab.page;
  await tab.go(`${oiq.http}/login`);
  await tab.fillIn(owner);
  await page.waitForURL('**/get-started*');
  await page.getByRole('button', { name: 'Load demo data' }).click();
  await page.getByText('Demo data loaded').waitFor();
  phone = await chromium.openOnPhone();
  await phone.go(`${oiq.http}/login`);
  await phone.fillIn(owner);
  await phone.page.waitForSelector('#account', { state: 'attached' });
  for (const path of ['/api/services', '/api/dependencies'])
    await eventually(
      `demo data at ${path}`,
      async () => (await get(`${path}?scope=account&from=now-1h`)).items.length >= 6,
    );
});
test.after.always(async () => {
  await chromium?.close();
  await receiver?.close();
  await oiq?.stop();
  if (directory !== undefined) await rm(directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
});

/** Controls of a task. Counts clicks and choices; typed text must not be JSON or an ID. */
class Task {
  clicks = 0;
  readonly screen: Screen;

  constructor(screen: Screen) {
    this.screen = screen;
  }

  async click(control: Locator): Promise<void> {
    this.clicks++;
    await (this.screen.isPhone ? control.tap() : control.click());
  }

  /** Opens an area from the menu. */
  async openArea(name: string): Promise<void> {
    if (this.screen.isPhone) await this.click(page.getByRole('button', { name: /^Menu/ }));
    await this.click(page.getByRole('navigation', { name: 'Areas' }).getByRole('link', { name }));
  }

  /** A name for a new resource that is unique per screen. */
  nameNew(name: string): string {
    return `${name}${this.screen.suffix}`;
  }

  async choose(control: Locator, label: string | RegExp): Promise<void> {
    this.clicks++;
    const option = control.locator('option', { hasText: label }).first();
    await control.selectOption({ label: ((await option.textContent()) ?? '').trim() });
  }

  async type(control: Locator, text: string): Promise<void> {
    if (/^\s*[[{]|[0-9a-f]{8}-[0-9a-f]{4}/.test(text)) throw new Error(`a user would have to type ${text}`);
    await control.fill(text);
  }
}

const button = (name: string | RegExp): Locator => page.getByRole('button', { name }).first();
const panel = (name: string): Locator => page.getByRole('complementary', { name });

const task = (title: string, run: (t: ExecutionContext, doing: Task) => Promise<void>): void => {
  for (const screen of screens)
    declare(`a new user ${title}, on ${screen.name} in at most ${screen.maxClicks} clicks`, async (t) => {
      tab = screen.isPhone ? phone : desktop;
      page = tab.page;
      await tab.go(`${oiq.http}/overview`);
      await page.locator('main h1').first().waitFor({ state: 'attached' });
      const doing = new Task(screen);
      await run(t, doing);
      t.log(`${doing.clicks} clicks`);
      t.true(doing.clicks <= screen.maxClicks, String(doing.clicks));
      t.deepEqual(tab.complaints, []);
    });
};

task('finds the slow dependency of a slow service', async (t, doing) => {
  await doing.openArea('Services');
  await doing.click(page.locator('.services .extent .row', { hasText: 'shop/checkout' }).first());
  await doing.click(panel('Service').getByRole('link', { name: /page/i }).first());
  await page.waitForURL('**/services/shop*checkout*');
  await doing.click(page.getByRole('link', { name: 'Dependencies' }));
  const first = page.getByRole('row', { name: /shop\/payments/ }).first();
  await first.waitFor();
  t.pass();
});

task('creates an alert rule that notifies a webhook, which receives it', async (t, doing) => {
  await doing.openArea('Alerts');
  await doing.click(page.getByRole('navigation', { name: 'Alerts' }).getByRole('link', { name: 'Rules' }));
  await doing.click(page.getByRole('link', { name: 'New alert rule' }).first());
  await doing.type(page.getByLabel('Name', { exact: true }), doing.nameNew('Many requests'));
  await doing.type(page.getByLabel('Value', { exact: true }), '1');
  const notify = page.getByRole('group', { name: 'Notify' });
  await doing.click(notify.getByRole('button', { name: 'New contact point' }));
  const added = notify.getByRole('group', { name: 'New contact point' });
  await doing.type(added.getByLabel('Name'), doing.nameNew('Team hook'));
  await doing.type(added.getByLabel('URL'), receiver.url);
  await doing.click(added.getByRole('button', { name: 'Create contact point' }));
  await notify.getByLabel(doing.nameNew('Team hook')).last().waitFor();
  await doing.click(page.getByRole('button', { name: 'Create rule' }));
  await panel('Rule')
    .getByRole('heading', { name: doing.nameNew('Many requests'), exact: true })
    .waitFor();
  await eventually('the notification', () =>
    receiver.received.some(({ text }) => text.includes(doing.nameNew('Many requests'))),
  );
  t.pass();
});

task('creates a dashboard from a template', async (t, doing) => {
  const before = (await get('/api/dashboards')).items.length;
  await doing.openArea('Dashboards');
  await doing.click(page.getByRole('link', { name: 'Templates' }));
  await doing.click(button(/^Create dashboard/));
  await page.waitForURL(/\/dashboards\/[^?]/);
  t.true((await get('/api/dashboards')).items.length > before);
});

task('builds a dashboard of four panels', async (t, doing) => {
  await doing.openArea('Dashboards');
  await doing.type(page.locator('main').getByLabel('Name'), doing.nameNew('Shop'));
  await doing.click(button('Create dashboard'));
  await page.waitForURL(/\/dashboards\/[^?]/);
  const editor = page.getByRole('region', { name: 'Panel editor' });
  for (const [title, source] of [
    ['Requests', undefined],
    ['Spans', 'Span count'],
    ['Newest logs', 'Logs'],
    ['Errors', undefined],
  ] as const) {
    await doing.click(button('Add panel'));
    await doing.type(editor.getByLabel('Title', { exact: true }), title);
    if (source !== undefined) await doing.choose(editor.getByLabel('Data source'), source);
  }
  await doing.click(button('Save'));
  await eventually('four panels', async () =>
    (await get('/api/dashboards')).items.some(
      ({ name, panels }: { name: string; panels: number }) => name === doing.nameNew('Shop') && panels === 4,
    ),
  );
  t.pass();
});

task('shares a dashboard as a public snapshot', async (t, doing) => {
  await doing.openArea('Dashboards');
  await doing.click(page.getByRole('row').getByRole('link').first());
  await page.locator('.panel').first().waitFor();
  await doing.click(page.getByText('Share', { exact: true }));
  await doing.click(button('Public snapshot'));
  await doing.click(button('Create snapshot'));
  const link = await page.getByText('Copy this link now.').getByRole('link').getAttribute('href');
  const other = await chromium.open();
  await other.go(new URL(link ?? '', oiq.http).href);
  await other.page.locator('.panel').first().waitFor();
  t.pass();
});

task('imports a Grafana dashboard from a file, and edits a panel', async (t, doing) => {
  const grafana = {
    title: doing.nameNew('From Grafana'),
    schemaVersion: 39,
    panels: [
      {
        id: 1,
        type: 'timeseries',
        title: 'Orders',
        gridPos: { x: 0, y: 0, w: 12, h: 8 },
        targets: [{ refId: 'A', expr: 'sum(rate(shop_orders[5m]))' }],
      },
    ],
  };
  await doing.openArea('Dashboards');
  await doing.click(page.getByRole('navigation', { name: 'Dashboards' }).getByRole('link', { name: 'Import' }));
  const file = { name: 'grafana.json', mimeType: 'application/json', buffer: Buffer.from(JSON.stringify(grafana)) };
  await page.locator('input[type=file]').setInputFiles(file);
  await doing.click(button('Preview import'));
  await page.getByText(/^Preview only/).waitFor();
  await doing.click(page.getByRole('button', { name: 'Import', exact: true }));
  const imported = page.locator('.panel', { hasText: 'Orders' });
  await imported.waitFor();
  await doing.click(page.getByRole('button', { name: 'Actions of Orders' }));
  await doing.click(page.getByRole('menuitem', { name: 'Edit panel' }));
  const editor = page.getByRole('region', { name: 'Panel editor' });
  await doing.type(editor.getByLabel('Title', { exact: true }), 'Orders per second');
  await doing.click(button('Save'));
  await page.locator('.panel', { hasText: 'Orders per second' }).waitFor();
  t.pass();
});

task('reads the logs of a failed checkout', async (t, doing) => {
  await doing.openArea('Traces');
  await doing.type(page.locator('#search'), 'name:"POST /checkout" status:error');
  await page.keyboard.press('Enter');
  await doing.click(page.locator('.traces .extent .row').first());
  await doing.click(page.getByRole('link', { name: 'Logs of this trace' }));
  await page.locator('.records .extent .row').first().waitFor();
  t.pass();
});

task('defines an objective for a service', async (t, doing) => {
  await doing.openArea('SLOs');
  await doing.click(button('New SLO'));
  await doing.type(panel('SLO').getByLabel('Name', { exact: true }), doing.nameNew('Checkout works'));
  await doing.type(panel('SLO').getByLabel('Service', { exact: true }), 'shop/checkout');
  await doing.type(panel('SLO').getByLabel('Target %', { exact: true }), '99.5');
  await doing.click(panel('SLO').getByRole('button', { name: 'Create SLO' }));
  const names = async () => (await get('/api/slos')).items.map(({ name }: { name: string }) => name);
  await eventually('the SLO', async () => (await names()).includes(doing.nameNew('Checkout works')));
  t.pass();
});

task('creates a synthetic check', async (t, doing) => {
  await doing.openArea('Synthetics');
  await doing.click(button('New check'));
  await doing.type(panel('Check').getByLabel('Name', { exact: true }), doing.nameNew('Home page'));
  await doing.type(panel('Check').getByLabel('URL', { exact: true }), `${oiq.http}/login`);
  await doing.click(panel('Check').getByRole('button', { name: 'Create check' }));
  await panel('Check')
    .getByRole('heading', { name: doing.nameNew('Home page'), exact: true })
    .waitFor();
  t.pass();
});

task('is on call, and is paged for alerts without another route', async (t, doing) => {
  await doing.openArea('Incidents');
  await doing.click(page.getByRole('link', { name: 'Escalation' }));
  await doing.click(button('New escalation policy'));
  await doing.type(panel('Escalation policy').getByLabel('Name', { exact: true }), doing.nameNew('First responder'));
  await doing.click(panel('Escalation policy').getByRole('button', { name: 'Add target' }));
  await doing.choose(panel('Escalation policy').getByLabel('Targets'), /owner/i);
  await doing.click(panel('Escalation policy').getByRole('button', { name: 'Create policy' }));
  await panel('Escalation policy')
    .getByRole('heading', { name: doing.nameNew('First responder'), exact: true })
    .waitFor();
  const policies = (await get('/api/on-call/escalation-policies')).items as { id: string; name: string }[];
  const id = policies.find(({ name }) => name === doing.nameNew('First responder'))?.id;
  await doing.click(panel('Escalation policy').getByRole('button', { name: 'Add to the default route' }));
  await panel('Escalation policy').getByRole('link', { name: 'Default route' }).waitFor();
  const { receivers } = await get('/api/v2/alerts/routing');
  t.true(receivers.some(({ escalationPolicyId }: { escalationPolicyId?: string }) => escalationPolicyId === id));
});

task('asks why a service is slow, and reads the cause', async (t, doing) => {
  await doing.openArea('Ask AI');
  await doing.type(page.getByRole('textbox').first(), 'Why is shop/checkout slow?');
  await page.keyboard.press('Enter');
  await page
    .getByText(/payments/)
    .first()
    .waitFor();
  t.pass();
});

/** Areas whose content loads in parts. Below 0.1, a layout shift is good by the rating of web vitals. */
const areasWithParts = ['/overview', '/services', '/llm', '/security', '/digital-experience/web-vitals', '/events'];
const maxLayoutShift = 0.1;

for (const screen of screens)
  declare(`areas with demo data keep their layout while they load, on ${screen.name}`, async (t) => {
    const { page: view } = screen.isPhone ? phone : desktop;
    await view.addInitScript(`
      window.layoutShift = 0;
      new PerformanceObserver((list) => {
        for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) window.layoutShift += value;
      }).observe({ type: 'layout-shift', buffered: true });`);
    const shifts: string[] = [];
    for (const area of areasWithParts) {
      await view.goto(`${oiq.http}${area}`);
      await view.waitForLoadState('networkidle');
      await view.locator('main .skeleton').first().waitFor({ state: 'detached' });
      const shift = Number(await view.evaluate('window.layoutShift'));
      if (shift > maxLayoutShift) shifts.push(`${area}: ${shift.toFixed(3)}`);
    }
    t.deepEqual(shifts, []);
  });
