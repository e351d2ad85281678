/** The area LLM in a real browser: totals, groups of costs, a request as a chat, and editing of a price. */
import test from 'ava';
import { landModelSpans, requestIdOf } from '../cases/llm-telemetry.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const atMs = Math.floor(Date.now() / 1000) * 1000 - 20 * 60_000;
const message = (role: string, content: string): string =>
  JSON.stringify([{ role, parts: [{ type: 'text', content }] }]);
const attributes = {
  'gen_ai.operation.name': 'chat',
  'gen_ai.provider.name': 'openai',
  'gen_ai.request.model': 'gpt-4o-mini',
  'gen_ai.usage.input_tokens': '1000',
  'gen_ai.usage.output_tokens': '100',
  'user.id': 'ann',
  'gen_ai.input.messages': message('user', '<b>Where</b> is my order?'),
  'gen_ai.output.messages': message('assistant', 'It was shipped.'),
};
const request = { id: 0x11, atMs, durationMs: 2_000, attributes };

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  await landModelSpans(harness.columns, [
    request,
    { id: 0x21, atMs: atMs + 60_000, attributes: { ...attributes, 'gen_ai.request.model': 'house-model' } },
  ]);
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

declare('the overview shows the totals of the API, and leads to what is unpriced', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/llm');
  await page.locator('.tile', { hasText: 'Cost' }).getByText('$0.00021').waitFor();
  t.regex((await page.locator('.tile', { hasText: 'Unpriced' }).textContent()) ?? '', /50 %/);
  await assertView(t, tab, '.tiles');
  await page.getByRole('link', { name: '1 unpriced: the model is not in the price table' }).click();
  await page.locator('main tbody tr').first().waitFor();
  t.deepEqual(await page.locator('main tbody tr').count(), 1);
  t.regex((await page.locator('main tbody tr').textContent()) ?? '', /house-model.*unpriced/);
  await assertView(t, tab, 'main tbody');
});

declare('costs are grouped, and a group leads to its requests', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/llm/cost?groupBy=userId');
  await page.getByRole('link', { name: 'ann' }).waitFor();
  t.regex((await page.locator('main tfoot').textContent()) ?? '', /\$0\.00021/);
  await assertView(t, tab, 'main tbody');
});

declare('a request reads like a chat, and contents of senders are text', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, `/llm/requests?request=${requestIdOf(request)}`);
  const chat = page.locator('.chat');
  await chat.getByText('<b>Where</b> is my order?').waitFor();
  await chat.getByText('It was shipped.').waitFor();
  t.deepEqual(await chat.getByRole('heading').allTextContents(), ['User', 'Assistant']);
  await page.getByText('0.00021 USD').waitFor();
  await assertView(t, tab, '.chat');
});

declare('a price is set beside the models', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/llm/models', 'editor@a.example');
  await page.getByRole('link', { name: 'house-model' }).click();
  await page.getByRole('button', { name: 'Set price' }).click();
  await page.getByLabel('Input', { exact: true }).fill('-1');
  await page.getByLabel('Output', { exact: true }).fill('2');
  await page.getByRole('button', { name: 'Save price' }).click();
  await page.locator('form .problem-text, form [role=alert]', { hasText: 'decimal' }).first().waitFor();
  await page.getByLabel('Input', { exact: true }).fill('1.5');
  await page.getByRole('button', { name: 'Save price' }).click();
  await page.locator('main tbody tr', { hasText: 'your price' }).waitFor();
  const { body } = await harness.request('GET', '/api/llm/models');
  t.like(body.prices[0], { model: 'house-model', version: 1 });
});
