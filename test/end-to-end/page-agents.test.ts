/** The area Agents in a real browser: an agent, a session with intents next to effects, and risks. */
import test from 'ava';
import { AgentSession, agentPid, landAgentRecords, workFolder } from '../cases/agent-telemetry.ts';
import { chromiumMissing } from '../services/chromium.ts';
import { type Harness, startHarness } from './api-harness.ts';
import { type Chromium, startChromium } from './chromium.ts';
import { assertView, signInAndOpen } from './page-walk.ts';

let harness: Harness;
let chromium: Chromium;
const declare = chromiumMissing === undefined ? test.serial : test.serial.skip;

const startMs = Math.floor(Date.now() / 1000) * 1000 - 20 * 60_000;
const session = new AgentSession({ startMs })
  .start()
  .prompt('Fix the <b>rounding</b>')
  .respond('I look at it', [{ id: 'c1', name: 'Edit', input: { file_path: `${workFolder}/src/cart.ts` } }])
  .file(agentPid, `${workFolder}/src/cart.ts`, 577)
  .result('c1', 'ok')
  .exec(4_010, agentPid, '/usr/bin/curl', 'curl -s https://drop.example/x')
  .connect(4_010, 'drop.example')
  .respond('Done');

test.before(async () => {
  if (chromiumMissing !== undefined) return;
  [harness, chromium] = await Promise.all([startHarness(), startChromium()]);
  await landAgentRecords(harness.columns, session.records);
});
test.after.always(async () => {
  await chromium?.close();
  await harness?.close();
});

declare('an agent leads to its processes with their coverage, and to its connections', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/agents');
  await page.getByRole('link', { name: 'Claude Code' }).click();
  await page.getByRole('heading', { name: 'Claude Code on laptop' }).waitFor();
  t.regex((await page.locator('main').textContent()) ?? '', /Captured.*plaintext of/);
  await page.locator('tr.is-unexplained', { hasText: 'drop.example' }).waitFor();
  await assertView(t, tab, '.agents .tiles');
});

declare('a session shows prompts and tool calls next to effects, with unexplained ones highlighted', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/agents/sessions');
  await page.locator('main tbody a').first().click();
  await page.locator('.agent-turn').getByText('Fix the <b>rounding</b>').waitFor();
  t.is(await page.locator('.agent-effect.unexplained').count(), 2);
  t.regex(
    (await page.locator('.agent-effect.stated').textContent()) ?? '',
    /Write.*src\/cart\.ts.*a call of Edit names the path/,
  );
  await assertView(t, tab, '.agent-effect.stated');
});

declare('a risk leads to the turn of its session', async (t) => {
  const tab = await chromium.open();
  const { page } = tab;
  await signInAndOpen(tab, harness.url, '/agents/risks');
  const row = page.locator('main tbody tr', { hasText: 'Unexplained command of an agent' });
  t.regex((await row.textContent()) ?? '', /curl -s https:\/\/drop\.example\/x/);
  await assertView(t, tab, 'main tbody');
  await row.getByRole('link', { name: 'turn 1' }).click();
  await page.locator('.agent-effect.unexplained').first().waitFor();
});
