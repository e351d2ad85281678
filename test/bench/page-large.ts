/** A case of `page-speed`: very large records and spans, in the list and opened in the side panel. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Locator } from 'playwright-core';
import { text } from '../cases/sink-tables.ts';
import { landLogs } from '../end-to-end/landed-logs.ts';
import { landedIn } from '../end-to-end/landed-spans.ts';
import { type Case, endMs, openUncached, rowOf } from './page-bench.ts';
import { costOf, forgetLongest } from './page-cost.ts';
import type { Row } from './report.ts';

const many = (count: number): object[] =>
  Array.from({ length: count }, (_, at) => text(`field.${at}`, `value ${at} of ${count}`));

const branched = (count: number): string =>
  JSON.stringify(
    Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`part${at}`, { id: at, name: `part ${at}`, list: [at, at + 1] }]),
    ),
  );

const sorts = {
  'a text of 1 MB': { body: 'what a sender wrote in one piece '.repeat(31_250) },
  'JSON of 1 MB': {
    body: branched(20_000)
      .slice(0, 999_000)
      .replace(/,"part\d+":\{[^}]*$/, '}'),
  },
  '2,000 attributes': { body: 'with 2,000 attributes', attributes: many(2_000) },
  '5,000 fields': { body: 'with 5,000 fields', attributes: many(5_000) },
  '5,000 fields in its body': { body: branched(5_000) },
} as const;

export const large: Case = async (bench) => {
  const { harness, page } = bench;
  const startNs = BigInt(endMs) * 1_000_000n;
  let offset = 0;
  // Several of each kind, so that the visible rows are large too.
  for (const [service, log] of Object.entries(sorts))
    for (let at = 0; at < 8; at++)
      await landLogs(harness, [{ ...log, service, severity: 9, timeNs: startNs - BigInt(offset) * 1_000_000_000n }], {
        offset: ++offset,
      });
  const rows: Row[] = [];
  const step = async (what: string, act: () => Promise<unknown>): Promise<void> => {
    await forgetLongest(page);
    const cost = await costOf(page, async () => {
      await act();
      await delay(500);
    });
    rows.push(await rowOf(page, what, cost));
  };
  /** Runs a step for a part, if it exists. */
  const at = async (what: string, part: Locator, act: (part: Locator) => Promise<unknown>): Promise<void> => {
    if ((await part.count()) > 0) await step(what, () => act(part));
  };
  const press = (part: Locator): Promise<unknown> => part.click();
  const button = (name: string | RegExp): Locator => page.getByRole('button', { name }).first();
  for (const service of Object.keys(sorts)) {
    const search = new URLSearchParams({ search: `service:"${service}"`, from: 'now-6h', to: 'now' });
    rows.push(await openUncached(bench, `/logs?${search}`, '.records .extent .row', `rows of ${service}`));
    await step(`${service}: opened`, async () => {
      await page.locator('.records .extent .row').nth(1).click();
      await page.locator('.beside dl.fields').waitFor();
    });
    await at(`${service}: a branch of its tree opened`, page.locator('.beside details summary').nth(1), press);
    await at(`${service}: more of its tree`, button(/ more$/), press);
    await at(`${service}: as text`, button('Show as text'), press);
    await at(`${service}: all characters`, button(/all .* characters/), press);
    await at(`${service}: to its end`, page.locator('.beside .long').last(), (part) => part.scrollIntoViewIfNeeded());
    const filter = page.getByLabel('Search fields by name');
    await at(`${service}: its fields filtered`, filter, (part) => part.pressSequentially('99'));
    await step(`${service}: wrapped`, () => page.getByLabel('Wrap').check());
  }
  const trace = 'd'.repeat(32);
  const attributes = Object.fromEntries(Array.from({ length: 2_000 }, (_, at) => [`field.${at}`, `value ${at}`]));
  await landedIn(harness).spans(
    Array.from({ length: 20 }, (_, at) => ({
      trace,
      span: (at + 1).toString(16).padStart(16, '0'),
      service: 'shop',
      name: `step ${at}`,
      attributes,
      ...(at === 0 ? {} : { parent: '1'.padStart(16, '0') }),
      start: startNs + BigInt(at) * 1_000_000n,
      duration: 900_000_000n,
      kind: 2,
    })),
  );
  rows.push(await openUncached(bench, `/traces/${trace}`, '.waterfall .extent .row', 'spans of 2,000 attributes'));
  await step('a span of 2,000 attributes: opened', async () => {
    await page.locator('.waterfall .extent .row').nth(3).click();
    await page.locator('.beside dl.fields').first().waitFor();
  });
  return rows;
};
