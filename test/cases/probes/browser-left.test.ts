/** Nothing remains of browsers if the probe, its driver or the browser itself is killed. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test, { type ExecutionContext } from 'ava';
import { BrowserProcess } from '../../../probes/browser/browser-process.ts';
import { findProcesses, killAll } from '../../../probes/browser/processes.ts';
import { createRunDirectory, createRunDirectoryPath, removeAbandoned } from '../../../probes/browser/run-directory.ts';
import { eventually } from '../../waiting.ts';
import { browserTest, runBrowser } from './browsers.ts';
import { serveHttp } from './targets.ts';

const runs = fileURLToPath(new URL('./endless-runs.ts', import.meta.url));
const linuxTest = process.platform === 'linux' ? test.serial : test.skip;

/**
 * A program that starts like a browser, never responds, ignores signals where possible, and constantly writes to its
 * directory.
 */
const stubborn = `#!${process.execPath}
const { mkdirSync, writeFileSync } = require('node:fs');
for (const signal of ['SIGHUP', 'SIGINT', 'SIGTERM']) process.on(signal, () => undefined);
const given = '--user-data-dir=';
const directory = process.argv.find((one) => one.startsWith(given)).slice(given.length);
for (let name = 0; ; name = (name + 1) % 1000) {
  try {
    mkdirSync(directory + '/more', { recursive: true });
    writeFileSync(directory + '/more/' + name, '');
  } catch {
    // The directory was removed meanwhile.
  }
}
`;

/** A temporary directory for this test, and a browser that does not exit on its own. */
const place = (t: ExecutionContext): { readonly directory: string; readonly program: string } => {
  const directory = mkdtempSync(join(tmpdir(), 'left-'));
  const program = `${directory}.program`;
  writeFileSync(program, stubborn);
  chmodSync(program, 0o755);
  const before = process.env['TMPDIR'];
  process.env['TMPDIR'] = directory;
  t.teardown(async () => {
    if (before === undefined) delete process.env['TMPDIR'];
    else process.env['TMPDIR'] = before;
    await killAll(directory);
    for (const path of [directory, program]) rmSync(path, { recursive: true, force: true });
  });
  return { directory, program };
};

/** Starts a probe in a separate process and process group; resolves when its browser writes. */
const startProbe = async (
  directory: string,
  program: string,
): Promise<{ readonly pid: number; readonly ended: Promise<unknown> }> => {
  const env = { ...process.env, TMPDIR: directory };
  const child = fork(runs, ['http://127.0.0.1:1/', program], { env, detached: true, stdio: 'ignore' });
  const ended = once(child, 'exit');
  await eventually('its browser writes', () =>
    readdirSync(directory, { recursive: true }).some((path) => String(path).endsWith('/more/999')),
  );
  return { pid: child.pid ?? 0, ended };
};

linuxTest('a probe that is killed leaves no process and no directory, whatever its browser does', async (t) => {
  const { directory, program } = place(t);
  const { pid, ended } = await startProbe(directory, program);
  process.kill(pid, 'SIGKILL');
  await ended;
  await eventually('its browser is gone', () => findProcesses(directory).length === 0);
  await eventually('its directory is gone', () => readdirSync(directory).length === 0);
  t.pass();
});

linuxTest('what remains of a probe that was killed with its children is removed by the next probe', async (t) => {
  const { directory, program } = place(t);
  const { pid, ended } = await startProbe(directory, program);
  process.kill(-pid, 'SIGKILL');
  await ended;
  t.true(findProcesses(directory).length > 0, 'it does not end by itself');
  t.is(readdirSync(directory).length, 1);
  // A killed process may accept connections for a moment after its parent is gone.
  await eventually('nothing of it is left once the next probe ended', async () => {
    const next = await BrowserProcess.start();
    await next.end();
    return readdirSync(directory).length === 0 && findProcesses(directory).length === 0;
  });
  t.pass();
});

linuxTest(
  'directories of a live or starting probe, of another user or of another machine are not removed',
  async (t) => {
    const { directory, program } = place(t);
    await createRunDirectory(createRunDirectoryPath());
    const { pid, ended } = await startProbe(directory, program);
    const [name = ''] = readdirSync(directory);
    const start = name.slice(0, name.lastIndexOf('-'));
    const others = [
      'oiq-browser-01234567-abcdef',
      'oiq-browser-',
      'other',
      `${start.replace('browser', 'browser-new')}-abcdef`,
    ];
    for (const other of others) mkdirSync(join(directory, other));
    const isRoot = process.getuid?.() === 0;
    if (isRoot) {
      mkdirSync(join(directory, `${start}-foreign`));
      chownSync(join(directory, `${start}-foreign`), 65_534, 65_534);
    }
    writeFileSync(join(directory, `${start}-file`), '');
    const before = readdirSync(directory);
    t.is(before.length, isRoot ? 8 : 7);
    process.kill(pid, 'SIGSTOP');
    await removeAbandoned();
    t.deepEqual(readdirSync(directory), before, 'a process that is stopped lives');
    t.true(findProcesses(directory).length > 0);
    // A directory that was started two minutes ago is abandoned.
    const abandoned = join(directory, others.at(-1) ?? '');
    utimesSync(abandoned, Date.now() / 1000 - 120, Date.now() / 1000 - 120);
    await removeAbandoned();
    t.deepEqual(
      readdirSync(directory),
      before.filter((one) => one !== others.at(-1)),
    );
    process.kill(pid, 'SIGKILL');
    await ended;
  },
);

browserTest('a killed browser reports nothing about the page, at any step', async (t) => {
  const started: BrowserProcess[] = [];
  const { start } = BrowserProcess;
  BrowserProcess.start = async (...parameters) => {
    const one = await start.apply(BrowserProcess, parameters);
    started.push(one);
    return one;
  };
  t.teardown(() => {
    BrowserProcess.start = start;
  });
  const kill = (): void => {
    for (const pid of findProcesses(started.at(-1)?.directory ?? '')) process.kill(pid, 'SIGKILL');
  };
  const port = await serveHttp(t, ({ url }, response) => {
    if (url === '/killed') return kill();
    response
      .setHeader('content-type', 'text/html')
      .end('<h1>Shop</h1><script>setTimeout(() => fetch("/killed"), 300)</script>');
  });
  const base = `http://127.0.0.1:${port}`;
  const never = { by: 'text', text: 'Never' };
  const table = [
    [{ action: 'goto', url: `${base}/killed` }],
    [
      { action: 'goto', url: base },
      { action: 'click', target: never, within: '20s' },
    ],
    [
      { action: 'goto', url: base },
      { action: 'wait', target: never, within: '20s' },
    ],
    [
      { action: 'goto', url: base },
      { action: 'expect', target: never, read: 'text', operator: 'is', value: 'x', within: '20s' },
    ],
  ];
  for (const steps of table) {
    const seen = await runBrowser(steps);
    const lastStep = JSON.stringify(steps.at(-1));
    t.is(seen.outcome, 'unknown', `${lastStep}: ${seen.message}`);
    t.regex(seen.message, /the browser ended/, lastStep);
    t.is(seen.picture, undefined, lastStep);
  }
  t.deepEqual(
    started.flatMap(({ directory }) => findProcesses(directory)),
    [],
  );
});

browserTest(
  'a location that cannot start a browser reports unknown, and its slots stay available to other runs',
  async (t) => {
    const before = process.env['TMPDIR'];
    process.env['TMPDIR'] = '/none';
    t.teardown(() => {
      if (before === undefined) delete process.env['TMPDIR'];
      else process.env['TMPDIR'] = before;
    });
    const steps = [{ action: 'goto', url: 'http://127.0.0.1:1/' }];
    // More runs than there are slots.
    for (let time = 0; time < 3; time++) {
      const seen = await runBrowser(steps);
      t.is(seen.outcome, 'unknown');
      t.regex(seen.message, /Chromium does not start: .*\/none/);
    }
  },
);
