/** Walks through the page in a real browser, and checks of each view. */
import type { ExecutionContext } from 'ava';
import axe from 'axe-core';
import type { Locator } from 'playwright-core';
import { linesOf } from '../page-requests.ts';
import { password } from './api-harness.ts';
import type { Tab } from './chromium.ts';
import { declaredAs } from './declared.ts';

/** Signs in and opens an address of the page. */
export const signInAndOpen = async (
  tab: Tab,
  url: string,
  address: string,
  email = 'viewer@a.example',
): Promise<void> => {
  await tab.go(`${url}/login?returnTo=${encodeURIComponent(address)}`);
  await tab.fillIn({ email, password });
  // On narrow screens the element is in the closed menu.
  await tab.page.waitForSelector('#account', { state: 'attached' });
};

/** Fills the last, empty row of pairs. */
export const fillPair = async (
  place: Locator,
  label: string,
  [name, value]: readonly [string, string],
): Promise<void> => {
  const row = (await place.getByLabel(`${label}: name`, { exact: true }).count()) - 1;
  await place.getByLabel(`${label}: name`, { exact: true }).nth(row).fill(name);
  await place.getByLabel(`${label}: value`, { exact: true }).nth(row).fill(value);
};

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** The violations that axe finds in the current view, in one theme. */
export const findAxeViolations = async ({ page }: Tab, theme: 'light' | 'dark'): Promise<string[]> => {
  await page.evaluate(`document.documentElement.dataset.theme = '${theme}'`);
  // Evaluated through the protocol, because the page's policy blocks other scripts.
  await page.evaluate(axe.source);
  const found = (await page.evaluate(`axe.run().then(({ violations }) => violations)`)) as readonly Violation[];
  return found.flatMap(({ id, nodes }) =>
    nodes.map(({ html, failureSummary }) => `${theme} ${id}: ${html.slice(0, 200)} ${failureSummary}`),
  );
};

/** Asserts an accessible view in both themes without errors, which a reload shows again. */
export const assertView = async (t: ExecutionContext, tab: Tab, shown: string): Promise<void> => {
  t.deepEqual([...(await findAxeViolations(tab, 'light')), ...(await findAxeViolations(tab, 'dark'))], []);
  const before = await tab.page.locator(shown).textContent();
  await tab.page.reload();
  await tab.page.locator(shown, { hasText: before ?? '' }).waitFor();
  t.deepEqual(tab.complaints, []);
  t.deepEqual(
    linesOf(tab.requests).filter((line) => declaredAs(line) === undefined),
    [],
  );
};
