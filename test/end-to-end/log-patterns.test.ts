/** From a sender to the pages: logs of several shapes, their patterns over HTTP. */
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

test('logs are shown by pattern, and found by it', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-patterns-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  const dataDirectory = join(directory, 'data');
  const licenseKey = await embeddedDeployment(dataDirectory);
  const running = await startOiq({ dataDirectory });
  t.teardown(() => running.kill());
  const beganMs = Date.now() - 10 * 60_000;
  const send = async (timeMs: number, bodies: readonly string[]): Promise<void> => {
    const logRecords = bodies.map((body, at) => ({
      timeUnixNano: `${timeMs + at}000000`,
      severityNumber: 9,
      body: { stringValue: body },
    }));
    const attributes = [{ key: 'service.name', value: { stringValue: 'shop' } }];
    const answer = await fetch(`${running.otlp}/v1/logs`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-license-key': licenseKey },
      body: JSON.stringify({ resourceLogs: [{ resource: { attributes }, scopeLogs: [{ logRecords }] }] }),
    });
    t.is(answer.status, 200);
  };
  const names = ['ann', 'bob', 'cleo', 'dan', 'eve', 'fay', 'gus', 'hal'];
  await send(beganMs, [
    ...names.map((name) => `Failed login of ${name} from 192.0.2.1`),
    ...Array.from({ length: 20 }, (_, at) => `served /orders/${at} in ${at} ms`),
    ...Array.from({ length: 4 }, (_, at) => JSON.stringify({ level: 'info', msg: `order ${at} paid`, user: `u${at}` })),
  ]);
  const token = await signIn(running.http);
  const get = <Answer>(path: string): Promise<Answer> => read<Answer>(running.http, path, token);
  let patterns: Pattern[] = [];
  // What is later moves the watermark: the minute before is then over.
  let tries = 0;
  await eventually('three patterns', async () => {
    if (tries % 8 === 0) await send(beganMs + (5 + Math.min(tries, 240) / 60) * 60_000, ['tick']);
    tries++;
    ({ items: patterns } = await get<{ items: Pattern[] }>('/api/logs/patterns?service=shop&limit=1000'));
    patterns = patterns.filter(({ template }) => template !== 'tick');
    return patterns.length >= 3;
  });
  t.deepEqual(patterns.map(({ template, count }) => [template, count]).sort(), [
    ['Failed login of <*> from <address>', 8],
    ['served <path> in <number>', 20],
    ['{"level":<*>,"user":<*>,"msg":"order <number> paid"}', 4],
  ]);
  const logins = patterns.find(({ count }) => count === 8) as Pattern;
  for (const { id, count } of patterns) {
    let items: { patternId: string }[] = [];
    await eventually('the records of a pattern', async () => {
      ({ items } = await get<{ items: { patternId: string }[] }>(`/api/logs?patternId=${id}`));
      return items.length >= count;
    });
    t.is(items.length, count);
    t.true(items.every(({ patternId }) => patternId === id));
  }
  const one = await get<Pattern & { isAlias: boolean; parameters: { top: { value: string }[] }[] }>(
    `/api/logs/patterns/${logins.aliases[0]}`,
  );
  t.like(one, { id: logins.id, isAlias: true });
  const values = one.parameters[0]?.top.map(({ value }) => value) ?? [];
  t.true(values.length > 2 && values.every((name) => names.includes(name)), values.join());
  t.is(await running.stop(), 0);
});
