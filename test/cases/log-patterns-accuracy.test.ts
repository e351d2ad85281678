/**
 * Grouping accuracy over generated lines in the format of system logs, with new names for each seed. It complements the
 * measurement over labelled data sets (`test/bench/log-patterns.ts`), which are not part of this repository.
 */
import test from 'ava';
import { Miner } from '../../processors/log-patterns/miner.ts';
import { groupingAccuracy, samePairs, shuffled } from './grouping.ts';

/** Draws numbers below a limit, the same for the same seed. */
type Draw = (limit: number) => number;

const drawing = (seed: number): Draw => {
  let state = seed * 7919 + 1;
  return (limit) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >>> 8) % limit;
  };
};

const syllables = 'ka lo mi ra ten dor vis qua pel sun gri ho'.split(' ');
const wordOf = (draw: Draw): string =>
  Array.from({ length: 2 + draw(2) }, () => syllables[draw(syllables.length)]).join('');
const either = <T>(draw: Draw, ...choices: readonly T[]): T => choices[draw(choices.length)] as T;

/** Generators of values in a statement; `users` and `few` use the names of one seed. */
const values: Readonly<Record<string, (draw: Draw, names: readonly string[]) => string>> = {
  n: (draw) => String(draw(100_000)),
  hex: (draw) => `0x${draw(0x7fff_ffff).toString(16)}`,
  ip: (draw) => `${either(draw, '', '', '::ffff:')}192.0.2.${draw(256)}`,
  host: (draw) =>
    either(draw, `192.0.2.${draw(256)}`, `h${draw(99)}.${wordOf(draw)}.example`, `${wordOf(draw)}.a.example`),
  peer: (draw) => `192.0.2.${draw(256)} ${either(draw, '()', `(h${draw(99)}.${wordOf(draw)}.example)`)}`,
  port: (draw) => String(1 + draw(65_535)),
  user: (draw, names) => either(draw, ...names.slice(0, 3)),
  anyone: (draw, names) => either(draw, ...names, `u${draw(99)}`),
  size: (draw) => either(draw, `${draw(1000)} bytes`, `${1000 + draw(9000)} bytes (${draw(9)}.${draw(99)} KB)`),
  life: (draw) => either(draw, '<1 sec', `0${draw(9)}:${10 + draw(40)}`, `1:0${draw(9)}:${10 + draw(40)}`),
  path: (draw) => `/${wordOf(draw)}/${wordOf(draw)}`,
  pair: (draw) => `${either(draw, 'on', 'off')} ${either(draw, 'on', 'off')}`,
  numbers: (draw) => Array.from({ length: 1 + draw(6) }, () => draw(5000)).join(' '),
  nodes: (draw) => either(draw, `node-${draw(99)}`, `node-[${draw(9)}-${10 + draw(50)}]`, `node-[1,4-${10 + draw(9)}]`),
  checks: (draw) =>
    Array.from({ length: 1 + draw(4) }, () => `node-${draw(99)} 0x${draw(255).toString(16)} <ok>`).join(' '),
  axis: (draw) => `${either(draw, 'x', 'y', 'z')}${either(draw, '+', '-')}`,
  library: (draw, names) => `lib${either(draw, ...names)}.so`,
  owner: (draw, names) => `(${draw(99)}, ${either(draw, ...names)})`,
};

/** Statements of each source: each one is a separate group. */
const sources: Readonly<Record<string, readonly string[]>> = {
  'a system': [
    'session opened for user {user} by (uid={n})',
    'session opened for user {user} by LOGIN(uid={n})',
    'session closed for user {user}',
    'connection from {peer} at Mon Jul {n} 03:04:05 2005',
    'authentication failure; logname= uid={n} euid={n} tty=ssh ruser= rhost={host} ',
    'authentication failure; logname= uid={n} euid={n} tty=ssh ruser= rhost={host}  user=root',
    'authentication failure; logname= uid={n} euid={n} tty=ssh ruser= rhost={host}  user=guest',
    'check pass; user unknown',
    "Couldn't authenticate user",
    'CPU: L2 cache: {n}K',
    'BIOS-e820: {hex} - {hex} (usable)',
    'BIOS-e820: {hex} - {hex} (reserved)',
    "removing device node '{path}'",
    "creating device node '{path}'",
    'link is up',
    'link is down',
  ],
  'a login service': [
    'Failed password for invalid user {anyone} from {ip} port {port} ssh2',
    'Failed password for {anyone} from {ip} port {port} ssh2',
    'Failed none for invalid user {anyone} from {ip} port {port} ssh2',
    'Invalid user {anyone} from {ip}',
    'input_userauth_request: invalid user {anyone} [preauth]',
    'Received disconnect from {ip}: 11: Bye Bye [preauth]',
    'Connection closed by {ip} [preauth]',
    'Connection closed by {ip}',
  ],
  'a proxy': [
    '{host}:{port} close, {size} sent, {size} received, lifetime {life}',
    '{host}:{port} open through proxy {host}:{port} HTTPS',
    '{host}:{port} open through proxy {host}:{port} SOCKS5',
    '{host}:{port} error : Could not connect to proxy {host}:{port} - connection attempt failed with error {n}',
  ],
  'a cluster': [
    'Supply status ( {pair} )',
    'Fan speeds ( {numbers} )',
    'Targeting domains:{nodes} and nodes:{nodes} child of command {n}',
    'inconsistent sets {checks}',
    'boot (command {n})',
    'halt (command {n})',
    '{n} link receiver {axis} input pipe error(s) (dcr {hex}) detected and corrected',
    '{n} link receiver {axis} input pipe error(s) (dcr {hex}) detected and corrected over {n} seconds',
    'instruction cache parity error corrected',
    'data cache parity error corrected',
  ],
  'a node agent': [
    '"SyncLoop ADD" source="api" pods=["{user}/{library}"]',
    '"SyncLoop DELETE" source="api" pods=["{user}/{library}"]',
    '"RemoveContainer" containerID="{hex}"',
    '"Cleaned up orphaned volumes" podUID="{hex}" path="{path}"',
    '"MountVolume.SetUp succeeded for volume \\"{user}\\" (UniqueName: \\"{path}\\") pod \\"{user}\\" " pod="{user}/{n}"',
    '"MountVolume.TearDown succeeded for volume \\"{user}\\" pod \\"{user}\\" " pod="{user}/{n}"',
    '"Error syncing pod, skipping" err="failed to \\"Start\\" \\"{user}\\"" pod="{user}/{n}"',
  ],
  'an init system': [
    'Started {user}.service - {anyone} {anyone} server.',
    'Stopped {user}.service - {anyone} {anyone} server.',
    'Starting {user}.service - {anyone} server...',
    'Failed to start {user}.service - {anyone} {anyone} server.',
    '{user}.service: Succeeded.',
    '{user}.service: Scheduled restart job, restart counter is at {n}.',
    'Listening on {user}.socket - {anyone} socket.',
  ],
  'a desktop': [
    'assertion failed: {library} + {n}: {hex}',
    'response took {n} ms {owner}',
    'state changed from AUTO to SUSPENDED',
    'state changed from SUSPENDED to AUTO',
    'VM Started (Lifecycle Event)',
    'VM Stopped (Lifecycle Event)',
    'updateClipping isOverlap:false, padding={n}',
    'updateClipping isOverlap:true, padding={n}',
  ],
};

const linesOf = (statements: readonly string[], seed: number): { bodies: string[]; labels: string[] } => {
  const draw = drawing(seed);
  const names = Array.from({ length: 12 }, () => wordOf(draw));
  const labels = Array.from({ length: 1_000 }, () => either(draw, ...statements));
  const bodies = labels.map((statement) =>
    statement.replace(/\{(\w+)\}/g, (_, name: string) => (values[name] as (typeof values)[string])(draw, names)),
  );
  return { bodies, labels };
};

const idsOf = (bodies: readonly string[], order: readonly number[]): string[] => {
  const miner = new Miner();
  const ids: string[] = [];
  for (const line of order) ids[line] = miner.add('test', bodies[line] as string).id;
  return ids.map((id) => miner.resolve('test', id));
};

for (const [name, statements] of Object.entries(sources))
  test(`lines of ${name} are grouped by statement regardless of the names they contain and of their order`, (t) => {
    for (let seed = 1; seed <= 8; seed++) {
      const { bodies, labels } = linesOf(statements, seed);
      const ids = idsOf(bodies, [...bodies.keys()]);
      t.true(groupingAccuracy(ids, labels) >= 0.99, `seed ${seed}: ${groupingAccuracy(ids, labels)}`);
      for (const other of [1, 2]) t.is(samePairs(ids, idsOf(bodies, shuffled([...bodies.keys()], other))), 1);
    }
  });
