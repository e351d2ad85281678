/** End to end: sends logs of several formats and reads their patterns over HTTP. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'ava';
import { eventually } from '../waiting.ts';
import { embeddedDeployment } from './deployment.ts';
import { read, signIn, startOiq } from './oiq-process.ts';

interface Pattern {
  readonly id: string;
  readonly template: string;
  readonly count: number;
  readonly aliases: readonly string[];
}

test('logs are grouped by pattern, and can be filtered by it', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-patterns-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const dataDirectory = join(directory, 'data');
  const licenseKey = await embeddedDeployment(dataDirectory);
  const oiq = await startOiq({ dataDirectory });
  t.teardown(() => oiq.kill());
  const startMs = Date.now() - 10 * 60_000;
  const send = async (timeMs: number, bodies: readonly string[]): Promise<void> => {
    const logRecords = bodies.map((body, index) => ({
      timeUnixNano: `${timeMs + index}000000`,
      severityNumber: 9,
      body: { stringValue: body },
    }));
    const attributes = [{ key: 'service.name', value: { stringValue: 'shop' } }];
    const response = await fetch(`${oiq.otlp}/v1/logs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-license-key': licenseKey },
      body: JSON.stringify({ resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }] }),
    });
    t.is(response.status, 200);
  };
  const names = ['ann', 'bob', 'cleo', 'dan', 'eve', 'fay', 'gus', 'hal'];
  await send(startMs, [
    ...names.map((name) => `Failed login of ${name} from 192.0.2.1`),
    ...Array.from({ length: 20 }, (_, index) => `served /orders/${index} in ${index} ms`),
    ...Array.from({ length: 4 }, (_, index) =>
      JSON.stringify({ level: 'info', msg: `order ${index} paid`, user: `u${index}` }),
    ),
  ]);
  const token = await signIn(oiq.http);
  const fetchJson = <Body>(path: string): Promise<Body> => read<Body>(oiq.http, path, token);
  let patterns: Pattern[] = [];
  // A later record advances the watermark, which closes the minute before.
  let tries = 0;
  await eventually('three patterns', async () => {
    if (tries % 8 === 0) await send(startMs + (5 + Math.min(tries, 240) / 60) * 60_000, ['tick']);
    tries++;
    ({ items: patterns } = await fetchJson<{ items: Pattern[] }>('/api/logs/patterns?service=shop&limit=1000'));
    patterns = patterns.filter(({ template }) => template !== 'tick');
    return patterns.length >= 3;
  });
  t.deepEqual(patterns.map(({ template, count }) => [template, count]).sort(), [
    ['Failed login of <*> from <address>', 8],
    ['served <path> in <number>', 20],
    ['{"level":<*>,"user":<*>,"msg":"order <number> paid"}', 4],
  ]);
  const loginPattern = patterns.find(({ count }) => count === 8) as Pattern;
  for (const { id, count } of patterns) {
    let items: { patternId: string }[] = [];
    await eventually('the records of a pattern', async () => {
      ({ items } = await fetchJson<{ items: { patternId: string }[] }>(`/api/logs?patternId=${id}`));
      return items.length >= count;
    });
    t.is(items.length, count);
    t.true(items.every(({ patternId }) => patternId === id));
  }
  const aliasedPattern = await fetchJson<Pattern & { isAlias: boolean; parameters: { top: { value: string }[] }[] }>(
    `/api/logs/patterns/${loginPattern.aliases[0]}`,
  );
  t.like(aliasedPattern, { id: loginPattern.id, isAlias: true });
  const values = aliasedPattern.parameters[0]?.top.map(({ value }) => value) ?? [];
  t.true(values.length > 2 && values.every((name) => names.includes(name)), values.join());
  t.is(await oiq.stop(), 0);
});
