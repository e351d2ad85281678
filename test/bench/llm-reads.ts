/**
 * Reads of LLM calls of 30 days on embedded stores: cost by model and day, overview and newest requests, before and
 * after hours are aggregated. `BENCH_ROWS` is the number of calls (10 million).
 */
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { silentLog } from '../../schemas/ports/log.ts';
import { updateHourSums } from '../../sinks/llm-hours.ts';
import { migrate } from '../../sinks/migrations/index.ts';
import { readCosts } from '../../subjects/llm/costs.ts';
import { readLlmModels } from '../../subjects/llm/models.ts';
import { listCalls } from '../../subjects/llm/requests.ts';
import { createLlmScope, type LlmScope } from '../../subjects/llm/scope.ts';
import { readLlmTotals } from '../../subjects/llm/totals.ts';
import { scratch } from './scratch.ts';

const calls = Number(process.env['BENCH_ROWS'] ?? 10_000_000);
const rounds = Number(process.env['BENCH_ROUNDS'] ?? 5);
const days = 30;
const dayMs = 86_400_000;
const partsPerDay = 4;
const tenantId = 'bench';

const columns = await openChdbColumns({ directory: process.env['BENCH_KEEP'] ?? scratch() });
await migrate(columns, silentLog);
const [{ stored = '0', newest = '0' } = {}] = await columns.query<{ stored: string; newest: string }>(
  'SELECT toString(count()) AS stored, toString(toUnixTimestamp64Milli(max(timestamp))) AS newest FROM llm_calls',
);
const isFilled = Number(stored) > 0;
const nowMs = isFilled ? Number(newest) + 1 : Date.now();
const fromMs = nowMs - days * dayMs;

/** Calls and a few evaluations: independent models, services, users and conversations, and agents with own tokens. */
const fill = async (): Promise<void> => {
  const perDay = Math.ceil(calls / days / partsPerDay);
  const stepNs = Math.floor((dayMs * 1e6) / perDay / partsPerDay);
  for (let day = 0; day < days * partsPerDay; day += 1) {
    const startNs = BigInt(fromMs + (day * dayMs) / partsPerDay) * 1_000_000n;
    const time = `fromUnixTimestamp64Nano(toInt64(${startNs} + number * ${stepNs}), 'UTC')`;
    const ids = `lower(hex(sipHash128(intDiv(number, 4), ${day}))) AS trace_id, lower(hex(sipHash64(number, ${day}))) AS span_id`;
    await columns.execute(
      `INSERT INTO llm_calls (tenant_id, timestamp, trace_id, span_id, project_id, kind, service, environment, operation, provider, model, request_model,
        response_id, conversation_id, agent, prompt, user_id, duration_ns, first_token_ns, is_streamed, is_failed, error_type, input, cache_read, output,
        reasoning, cost_text, currency, price_problem, usage_problem, convention, attribute_json, received_at)
      SELECT '${tenantId}', ${time}, ${ids}, 'shop', if(number % 40 = 3, 'container', 'call'), concat('service-', toString(sipHash64(number, 1) % 10)),
        if(number % 5 = 0, 'staging', 'production'), 'chat', concat('provider-', toString(model_number % 5)), concat('model-', toString(model_number)), '',
        lower(hex(sipHash64(number, 2))), concat('conversation-', toString(intDiv(number, 20))), concat('agent-', toString(sipHash64(number, 3) % 12)),
        concat('prompt-', toString(sipHash64(number, 4) % 30)), concat('user-', toString(sipHash64(number, 5) % 10000)),
        toUInt64(exp(18 + (sipHash64(number, 6) % 5000) / 1000)), 300000000, number % 2, is_failed, if(is_failed, 'rate_limit', ''),
        1 + sipHash64(number, 7) % 20000, sipHash64(number, 8) % 4000, sipHash64(number, 9) % 2000, sipHash64(number, 10) % 500,
        if(model_number = 19, '', concat('0.0', toString(sipHash64(number, 11) % 1000000000))), if(model_number = 19, '', 'USD'),
        if(model_number = 19, 'no price for model-19', ''), '', 'opentelemetry', '{"team":"checkout"}', now64(3)
      FROM (SELECT number, sipHash64(number) % 20 AS model_number, toUInt8(sipHash64(number, 12) % 50 = 0) AS is_failed FROM numbers(${perDay}))`,
    );
    await columns.execute(
      `INSERT INTO llm_calls (tenant_id, timestamp, trace_id, span_id, nested)
      SELECT '${tenantId}', ${time}, ${ids}, 1 FROM numbers(${perDay}) WHERE number % 40 = 7`,
    );
  }
};

const measure = async (title: string, run: () => Promise<unknown>): Promise<void> => {
  const walls: number[] = [];
  const cpuBefore = process.cpuUsage();
  for (let round = 0; round < rounds; round += 1) {
    const startedAtMs = performance.now();
    await run();
    walls.push(performance.now() - startedAtMs);
  }
  const { user, system } = process.cpuUsage(cpuBefore);
  const best = Math.min(...walls).toFixed(0);
  const median = (walls.toSorted((left, right) => left - right)[Math.floor(rounds / 2)] ?? 0).toFixed(0);
  process.stdout.write(`| ${title} | ${best} | ${median} | ${((user + system) / 1_000 / rounds).toFixed(0)} |\n`);
};

const reader = {
  columns: columns.forTenant(tenantId),
  nowMs,
  plan: { name: 'all', entitlements: ['traces', 'llm'], retentionDays: { logs: 60, metrics: 60, traces: 60 } },
};
const createScope = (search?: string): LlmScope =>
  createLlmScope(
    { scope: 'account', ...(search !== undefined && { search }) },
    { from: BigInt(fromMs) * 1_000_000n, to: BigInt(nowMs) * 1_000_000n },
  );
const options = { prices: 'call', storedPrices: [] } as const;

const measureReads = async (): Promise<void> => {
  process.stdout.write('| read | best ms | median ms | CPU ms |\n| --- | --- | --- | --- |\n');
  await measure('cost by model and day', () =>
    readCosts(reader, createScope(), { ...options, groupBy: ['model'], stepMs: dayMs }),
  );
  await measure('overview', () => readLlmTotals(reader, createScope(), options));
  await measure('overview of a provider', () => readLlmTotals(reader, createScope('provider:provider-1'), options));
  await measure('models', () => readLlmModels(reader, createScope(), []));
  await measure('newest requests', () => listCalls({ scope: 'account', sort: '-time', limit: 50 }, reader));
};

const time = async (title: string, run: () => Promise<unknown>): Promise<void> => {
  const startedAtMs = performance.now();
  const cpuBefore = process.cpuUsage();
  const result = await run();
  const { user, system } = process.cpuUsage(cpuBefore);
  process.stdout.write(
    `${title}: ${result ?? ''} ${((performance.now() - startedAtMs) / 1e3).toFixed(1)} s, CPU ${((user + system) / 1e6).toFixed(1)} s\n`,
  );
};

if (!isFilled) await time(`filled ${calls} calls`, fill);
if (process.env['BENCH_ONLY_SUMMED'] === undefined) await measureReads();
await time('summed hours', () => updateHourSums(columns, Date.now() + dayMs));
await measureReads();
await columns.close();
