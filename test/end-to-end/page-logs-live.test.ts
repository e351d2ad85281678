/** Live tail in a real browser: records are shown, also those sent while it was paused or disconnected. */
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import test from 'ava';
import type { Message } from '../../schemas/ports/bus.ts';
import { logsOf, numbered } from '../contract/live-tail-harness.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
let publish: (...messages: Message[]) => Promise<void>;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  const producer = await harness.bus.producer();
  publish = (...messages) => producer.publish(messages);
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

/** A network between the browser and the API that the test can interrupt. */
const startNetwork = async () => {
  const sockets = new Set<Socket>();
  const server = createServer((inner) => {
    const outer = connect(Number(new URL(harness.url).port), new URL(harness.url).hostname);
    for (const [one, other] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy()).on('close', () => sockets.delete(one));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    breakAll: (): void => {
      for (const socket of sockets) socket.destroy();
    },
    close: (): void => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
};

declare(
  'records appear as they arrive, wait while live tail is paused, and none is missing after a reconnect',
  async (t) => {
    const network = await startNetwork();
    t.teardown(() => network.close());
    const sent = { tenantId: 'a', projectId: 'p1', service: 'shop' };
    await publish(logsOf(numbered('before', 3), sent));
    const tab = await chromium.open();
    const { page } = tab;
    await signInAndOpen(tab, network.url, '/logs?view=live&search=NOT+other');
    const came = (records: number) => page.locator('#came', { hasText: new RegExp(`^${records}$`) }).waitFor();
    await came(3);
    await publish(logsOf(['<i>first</i>', 'other'], sent), logsOf(['canary'], { ...sent, tenantId: 'b' }));
    await came(4);
    const newest = page.locator('.extent .row').first().getByRole('gridcell').nth(3);
    t.is(await newest.textContent(), '<i>first</i>');
    await page.getByRole('button', { name: 'Pause' }).click();
    await publish(logsOf(['second'], sent));
    await page.getByText('Paused. 1 new records.').waitFor();
    t.is(await newest.textContent(), '<i>first</i>');
    await page.getByRole('button', { name: 'Resume' }).click();
    await came(5);
    network.breakAll();
    await page.getByText('Reconnecting after the last record').waitFor();
    await publish(logsOf(['meanwhile'], sent));
    await came(6);
    await page.getByText('Live.', { exact: true }).waitFor();
    t.deepEqual(await page.locator('.extent .row [role=gridcell]:nth-child(4)').allTextContents(), [
      'meanwhile',
      'second',
      '<i>first</i>',
      ...numbered('before', 3).toReversed(),
    ]);
    await newest.click();
    await page.getByRole('complementary', { name: 'Record' }).locator('.body', { hasText: 'meanwhile' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).click();
    // The browser logs the interruption to the console.
    t.deepEqual(
      tab.complaints.filter((complaint) => !complaint.startsWith('WebSocket connection')),
      [],
    );
    const again = await chromium.open();
    await signInAndOpen(again, harness.url, '/logs?view=live');
    await again.page.locator('.extent .row').first().waitFor();
    await assertView(t, again, '.extent .row >> nth=0');
  },
);
