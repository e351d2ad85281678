/** Thousands of corrupted requests, the same in each run: none ends the process or hangs. */
import test from 'ava';
import { randomOf } from '../cases/random.ts';
import { eventually } from '../waiting.ts';
import { good, headOf, lines, refused, type Sender, sending } from './http1-client.ts';

const seeds: readonly string[] = [
  good,
  refused,
  `${headOf(3)}\xff\xff\xff`,
  headOf(0),
  `${headOf(50)}less`,
  lines('POST /v1/logs HTTP/1.1', 'Host: a', 'X-License-Key: {key}', 'Transfer-Encoding: chunked') +
    '2\r\n{}\r\n0\r\n\r\n',
  lines('POST /v1/constructor HTTP/1.1', 'Host: a', 'Content-Length: 0'),
  lines('GET /v1/logs HTTP/1.1', 'Host: a'),
];
const pieces: readonly string[] = [
  ...['\r\n', '\n', '\r', ' ', '\t', ':', '\0', '\xff', ',', '\r\n\r\n', '0', '9', 'POST ', ' HTTP/1.1\r\n'],
  ...['Content-Length: 3\r\n', 'Content-Length: 999999\r\n', 'Transfer-Encoding: chunked\r\n', 'Host: b\r\n'],
  ...[
    'Connection: close\r\n',
    'Connection: keep-alive\r\n',
    'Expect: 100-continue\r\n',
    '{key}',
    '/v1/traces',
    '__proto__',
  ],
];

class Mutator {
  readonly random: () => number;

  constructor(seed: number) {
    this.random = randomOf(seed);
  }

  upTo(max: number): number {
    return Math.floor(this.random() * (max + 1));
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.upTo(values.length - 1)] as Value;
  }

  /** One to three changes, more often near the start. */
  mutant(text: string): string {
    let changed = text;
    for (let n = this.upTo(2); n >= 0; n--) {
      const at = Math.floor(this.random() ** 1.5 * changed.length);
      const to = Math.min(changed.length, at + this.upTo(12));
      const inserted = [this.pick(pieces), String.fromCharCode(this.upTo(255)), changed.slice(at, to), ''];
      const kind = this.upTo(3);
      changed = changed.slice(0, at) + inserted[kind] + changed.slice(kind === 3 ? to : at + (kind === 1 ? 1 : 0));
    }
    return changed;
  }
}

/** Sends the request in several parts and disconnects; resolves when the server has closed the connection. */
const attack = async (sender: Sender, mutator: Mutator): Promise<void> => {
  let text = '';
  for (let n = mutator.upTo(2); n >= 0; n--) {
    const seed = mutator.pick(seeds);
    text += mutator.random() < 0.7 ? mutator.mutant(seed) : seed;
  }
  const bytes = sender.bytes(text);
  const cuts = Array.from({ length: mutator.upTo(2) }, () => mutator.upTo(bytes.length)).sort((one, two) => one - two);
  const end = mutator.upTo(3);
  const wire = sender.open();
  const peer = await wire.peer();
  let from = 0;
  for (const cut of [...cuts, bytes.length]) {
    wire.send(bytes.subarray(from, cut));
    from = cut;
    if (mutator.random() < 0.5) await wire.read();
    else await new Promise((resolve) => setImmediate(resolve));
  }
  if (end === 0) wire.socket.destroy();
  else if (end === 1) wire.socket.resetAndDestroy();
  else wire.socket.end();
  await eventually(`it is closed: ${JSON.stringify(text)}`, () => peer.destroyed);
};

test('damaged requests are answered or closed, and valid requests are served meanwhile and afterwards', async (t) => {
  const sender = await sending({ environment: { OIQ_SHUTDOWN_SECONDS: '100' } });
  sender.bus.storesMessages = false;
  const steady = sender.open();
  let attacks = 0;
  const attacker = async (seed: number): Promise<void> => {
    const mutator = new Mutator(seed);
    for (let n = 0; n < 150; n++) {
      await attack(sender, mutator);
      attacks++;
    }
  };
  const attackers = Promise.all(Array.from({ length: 20 }, (_, seed) => attacker(seed)));
  let isOver = false;
  const end = (): void => {
    isOver = true;
  };
  attackers.then(end, end);
  while (!isOver) t.like(await steady.send(sender.bytes(good)).next(), { status: 200 });
  await attackers;
  t.is(attacks, 3_000);
  t.is((await sender.open().send(sender.bytes(good)).next())?.status, 200);
  // No request counts as in flight any more.
  await sender.receivers.stop();
  await sender[Symbol.asyncDispose]();
});
