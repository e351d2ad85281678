/**
 * ICMP checks: the arguments of `ping`, parsing of its output, and locations without permission to ping, which is not a
 * fault of the target.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type ExecutionContext } from 'ava';
import { parsePingOutput } from '../../../probes/runners/icmp.ts';
import { run, soon } from './targets.ts';

/** The last lines of iputils on Debian 12, BusyBox and BSD. */
const statistics = (received: number, times: string): string =>
  `PING 192.0.2.1 (192.0.2.1) 56(84) bytes of data.\n\n--- 192.0.2.1 ping statistics ---\n3 packets transmitted, ${received} received, 0% packet loss, time 409ms\n${times}\n`;
const iputils = 'rtt min/avg/max/mdev = 0.712/0.786/0.861/0.074 ms';

test('the output of ping is parsed', (t) => {
  const table: readonly (readonly [exitCode: number, out: string, loss: number, averageMs: number | undefined])[] = [
    [0, statistics(3, iputils), 0, 0.786],
    [0, statistics(2, iputils), 33, 0.786],
    [1, statistics(0, ''), 100, undefined],
    [1, '3 packets transmitted, 0 received, +3 errors, 100% packet loss, time 204ms\n', 100, undefined],
    [0, '3 packets transmitted, 3 packets received, 0% packet loss\nround-trip min/avg/max = 1.0/2.5/4.0 ms\n', 0, 2.5],
  ];
  for (const [exitCode, stdout, loss, averageMs] of table)
    t.deepEqual(parsePingOutput({ exitCode, stdout, error: '' }), { loss, averageMs }, stdout);
  for (const error of ['ping: socket: Operation not permitted\nping: => missing cap_net_raw+p', 'ping: invalid option'])
    t.throws(() => parsePingOutput({ exitCode: 2, stdout: '', error }), {
      message: /cannot send echo requests: ping: /,
    });
});

/** Puts a program named `ping` into the path of this process; returns the file to which it writes its arguments. */
const putPing = (t: ExecutionContext, script: string): string => {
  const directory = mkdtempSync(join(tmpdir(), 'oiq-ping-'));
  const before = process.env['PATH'];
  process.env['PATH'] = `${directory}:/usr/bin:/bin`;
  t.teardown(() => {
    process.env['PATH'] = before;
    rmSync(directory, { recursive: true, force: true });
  });
  writeFileSync(join(directory, 'ping'), `#!/bin/sh\nprintf '%s\\n' "$*" > ${join(directory, 'called')}\n${script}\n`);
  chmodSync(join(directory, 'ping'), 0o755);
  return join(directory, 'called');
};

const icmp = (settings: object, more: object = {}, around = {}) =>
  run({ type: 'icmp', icmp: { host: '127.0.0.1', ...settings }, ...more }, around);

test.serial('echo requests go to the checked address, and their round-trip time is the wait phase', async (t) => {
  const called = putPing(t, `echo '${statistics(2, iputils)}'`);
  const names = { 'shop.example': [['127.0.0.1'], ['10.0.0.1']] };
  const seen = await icmp({ host: 'shop.example' }, {}, { names });
  t.is(seen.outcome, 'passed', seen.message);
  t.is(readFileSync(called, 'utf8').trim(), '-n -q -c 3 -i 0.2 -W 2 127.0.0.1');
  t.deepEqual(Object.keys(seen.phases), ['lookup', 'wait']);
  t.is(seen.phases['wait'], 0.786);
  const lost = [{ source: 'loss', operator: 'lte', value: 0, level: 'degrade' }];
  const { outcome, message } = await icmp({ assertions: lost });
  t.is(outcome, 'degraded');
  t.regex(message, /loss is 33, expected: lte 0/);
});

test.serial('a host that answers no echo request is down, and a hanging ping is killed', async (t) => {
  putPing(t, `echo '${statistics(0, '')}'; exit 1`);
  const { outcome, message } = await icmp({});
  t.is(outcome, 'failed');
  t.regex(message, /answered none of 3 echo requests/);
  putPing(t, 'exec sleep 60');
  const hanging = await icmp({}, { timeout: soon(300) });
  t.is(hanging.outcome, 'failed');
  t.regex(hanging.message, /took too long \(wait\)/);
});

test.serial('a location without the ping permission, or without ping, reports nothing about the target', async (t) => {
  putPing(t, 'echo "ping: socket: Operation not permitted" >&2; exit 2');
  const forbidden = await icmp({});
  t.is(forbidden.outcome, 'unknown');
  t.regex(forbidden.message, /this location cannot send echo requests: ping: socket: Operation not permitted/);
  putPing(t, 'exit 127');
  const missing = await icmp({});
  t.is(missing.outcome, 'unknown');
  t.regex(missing.message, /`ping` was not found/);
});

test.serial('nothing is sent to a private network, and user input is never a command option', async (t) => {
  const called = putPing(t, `echo '${statistics(3, iputils)}'`);
  t.is((await icmp({}, {}, { allowed: [] })).outcome, 'unknown');
  for (const host of ['-f', '--help', '$(id)', ';id']) t.is((await icmp({ host })).outcome, 'failed', host);
  t.throws(() => readFileSync(called));
});
