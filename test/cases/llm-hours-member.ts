/**
 * A process that sums hours of calls in a data directory: `node llm-hours-member.ts DIRECTORY KILL_MS` adds calls, sums
 * them, and is killed after some milliseconds; without them, it prints totals by sums and by calls.
 */
import { openChdbColumns } from '../../adapters/columns-chdb/columns-chdb.ts';
import { updateHourSums } from '../../sinks/llm-hours.ts';
import { readCosts } from '../../subjects/llm/costs.ts';
import { findCallSource } from '../../subjects/llm/hours.ts';
import { createLlmScope } from '../../subjects/llm/scope.ts';

const [directory = '', killMs] = process.argv.slice(2);
const hourMs = 3_600_000;
const startMs = Date.UTC(2026, 2, 1);
const hours = 40;
const later = Date.now() + 24 * hourMs;

const columns = await openChdbColumns({ directory });
if (killMs === undefined) {
  const reader = { columns: columns.forTenant('a'), nowMs: later };
  const range = { from: BigInt(startMs) * 1_000_000n, to: BigInt(startMs + hours * hourMs) * 1_000_000n };
  const readTotal = async (minSummedChanges: number) => {
    const scope = { ...createLlmScope({ scope: 'account' }, range), minSummedChanges };
    const { isSummed } = await findCallSource(reader, scope);
    const { total, groups } = await readCosts(reader, scope, {
      prices: 'call',
      storedPrices: [],
      groupBy: ['model'],
      stepMs: hourMs,
    });
    return { isSummed, total, groups };
  };
  const afterKills = await readTotal(0);
  await updateHourSums(columns, later);
  process.stdout.write(
    JSON.stringify({
      afterKills,
      summed: await readTotal(0),
      single: await readTotal(Number.POSITIVE_INFINITY),
    }),
  );
  await columns.close();
} else {
  await columns.execute(`INSERT INTO llm_calls (tenant_id, timestamp, trace_id, span_id, project_id, kind, model, input, cost_text, currency)
    SELECT 'a', fromUnixTimestamp64Milli(toInt64(${startMs}) + number % ${hours} * ${hourMs} + number), lower(hex(sipHash128(number, now64(6)))), lower(hex(number)),
      'shop', 'call', concat('model-', toString(number % 3)), number, concat('0.00000000', toString(number)), 'USD' FROM numbers(8000)`);
  setTimeout(() => process.kill(process.pid, 'SIGKILL'), Number(killMs));
  await updateHourSums(columns, later);
  // The job is done, so the kill follows it.
  await new Promise(() => {});
}
