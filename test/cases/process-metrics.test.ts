/** What `/metrics` exports about the process itself. */
import test from 'ava';
import { createMetricsProvider } from '../../adapters/own-telemetry/metrics.ts';
import { eventually } from '../waiting.ts';

/** Samples by name and labels. */
const samplesOf = (text: string): ReadonlyMap<string, number> =>
  new Map(
    text
      .split('\n')
      .filter((line) => line !== '' && !line.startsWith('#'))
      .map((line) => {
        const end = line.lastIndexOf(' ');
        return [line.slice(0, end), Number(line.slice(end + 1))];
      }),
  );

test('a process exports its version, start, memory, CPU time and files under the metric names that dashboards use', async (t) => {
  const metrics = await createMetricsProvider(undefined, { instance: 'test', version: '1.2.3' });
  t.teardown(() => metrics.close());
  const samples = samplesOf(await metrics.text());
  const value = (name: string): number => samples.get(name) ?? Number.NaN;
  t.is(value(`oiq_build_info{version="1.2.3",nodejs_version="${process.version}"}`), 1);
  t.is(Math.round(value('process_start_time_seconds')), Math.round(performance.timeOrigin / 1_000));
  t.true(value('process_cpu_seconds_total') > 0);
  if (process.platform === 'linux') t.true(value('process_open_fds') > 2);
  const mebibyte = 1024 * 1024;
  t.true(value('process_resident_memory_bytes') > mebibyte);
  t.true(value('nodejs_heap_size_used_bytes') > mebibyte);
  t.true(value('nodejs_heap_size_total_bytes') >= value('nodejs_heap_size_used_bytes'));
  t.true(value('nodejs_external_memory_bytes') > 0);
});

test('a process exports its event loop delay and its garbage collection time', async (t) => {
  const metrics = await createMetricsProvider(undefined, { instance: 'test', version: '1.2.3' });
  t.teardown(() => metrics.close());
  await eventually('the loop was late, and garbage was collected', async () => {
    for (let at = 0; at < 50; at++) structuredClone(Array.from({ length: 10_000 }, (_, index) => ({ index })));
    const samples = samplesOf(await metrics.text());
    return (
      ['mean', 'p50', 'p99', 'max'].every((of) => (samples.get(`nodejs_eventloop_lag_${of}_seconds`) ?? 0) > 0) &&
      (samples.get('nodejs_gc_duration_seconds_count{kind="minor"}') ?? 0) > 0
    );
  });
  t.pass();
});
