/**
 * What the panels of a dashboard cost, by the CPU time of the process: 20 expressions of few series over an hour in one question, beside
 * one question for each.
 *
 *     node test/bench/dashboards.ts
 *
 * `BENCH_ROUNDS` (5). The statements run in the process, so that its CPU time has all of it.
 */
import { type Harness, startHarness } from '../end-to-end/api-harness.ts';

const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const count = 20;
const samplesOfEach = 240;
const endMs = Math.floor(Date.now() / 60_000) * 60_000 - 60_000;

const fill = async ({ columns }: Harness): Promise<void> => {
  const at = `fromUnixTimestamp64Milli(toInt64(${endMs}), 'UTC')`;
  const series = count * 4;
  await columns.execute(`INSERT INTO series (tenant_id, project_id, metric, series_id, kind, source, attributes, attribute_types, first_seen, last_seen)
    SELECT 'a', 'p1', concat('m', toString(number % ${count})), number + 1, 'counter', 'prometheus',
      map('instance', toString(intDiv(number, ${count})), 'job', 'node'), 'ss', ${at}, ${at} FROM numbers(${series})`);
  await columns.execute(`INSERT INTO samples (tenant_id, project_id, received_at, metric, series_id, timestamp, value)
    SELECT 'a', 'p1', ${at}, concat('m', toString(number % ${series} % ${count})), number % ${series} + 1, ${at} - 15 * intDiv(number, ${series}),
      1000000 - intDiv(number, ${series}) FROM numbers(${series * samplesOfEach})`);
  // As sinks do: else each question reads records to tell how fresh it is.
  columns.tellLanded('samples', new Map([['a', endMs]]));
};

const cpuMs = async (work: () => Promise<void>): Promise<number> => {
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

const harness = await startHarness();
await fill(harness);
const panels = Array.from({ length: count }, (_, at) => ({
  ...{ id: `p${at}`, visual: { kind: 'time-series' } },
  queries: [{ name: 'A', query: { kind: 'promql', expression: `sum by (instance) (rate(m${at}[5m]))` } }],
}));
const made = await harness.ask('POST', '/api/dashboards', { as: 'editor', body: { name: 'bench', panels } });

const ask = async (only?: readonly string[]): Promise<void> => {
  const body = { from: String(endMs - 3_600_000), to: String(endMs), maxPoints: 250, ...(only && { panels: only }) };
  const answer = await harness.ask('POST', `/api/dashboards/${made.body.id}/query`, { as: 'viewer', body });
  for (const { error, results } of answer.body.items)
    if (error !== null || results.A.series.length !== 4) throw new Error(`a panel has no answer: ${error?.message}`);
};
const together = (): Promise<void> => ask();
const apart = async (): Promise<void> => {
  for (const { id } of panels) await ask([id]);
};

await together();
await apart();
for (let round = 0; round < rounds; round++) {
  const each = [await cpuMs(together), await cpuMs(apart)].map((ms) => (ms / count).toFixed(1));
  console.log(`CPU-ms of each expression: ${each[0]} in one question, ${each[1]} in one of its own`);
}
await harness.close();
process.exit(0);
