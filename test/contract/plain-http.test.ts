/** Plain requests on one connection: cut anywhere, one behind the other, before and behind requests that are not plain. */
import test from 'ava';
import { essence, good, headOf, onBus, refused, sending, special, until } from './plain-client.ts';

/** Both with bodies that are answered with more than a status. */
const malformed = `${headOf(40)}${'\xff'.repeat(40)}`;

test('a request is answered alike wherever it is cut', async (t) => {
  await using sender = await sending();
  for (const raw of [good, refused, malformed]) {
    sender.bus.messages.length = 0;
    const bytes = sender.bytes(raw);
    const bodyAt = bytes.indexOf('\r\n\r\n') + 4;
    const whole = essence(await sender.open().send(bytes).next());
    const landed = onBus(sender);
    const at = async (cut: number): Promise<void> => {
      const wire = sender.open().send(bytes.subarray(0, cut));
      await wire.read();
      const answered = await wire.send(bytes.subarray(cut)).next();
      t.deepEqual(essence(answered), whole, `cut at ${cut}`);
      t.is(answered?.by, cut < bodyAt ? 'node' : 'plain', `cut at ${cut}`);
      wire.socket.destroy();
    };
    for (let cut = 1; cut < bytes.length; cut++) {
      sender.bus.messages.length = 0;
      await at(cut);
      t.deepEqual(onBus(sender), landed, `cut at ${cut}`);
    }
  }
});

test('a request that comes byte by byte is answered', async (t) => {
  await using sender = await sending();
  for (const from of [0, sender.bytes(headOf('{length}')).length]) {
    const bytes = sender.bytes(good);
    const wire = sender.open();
    if (from > 0) wire.send(bytes.subarray(0, from));
    for (let at = from; at < bytes.length; at++) {
      await wire.read();
      wire.send(bytes.subarray(at, at + 1));
    }
    t.is((await wire.next())?.status, 200);
  }
  t.is(sender.bus.members().length, 2);
});

test('two requests that are cut anywhere are both answered', async (t) => {
  await using sender = await sending();
  const bytes = sender.bytes(good + refused);
  for (let cut = 1; cut < bytes.length; cut += 3) {
    const wire = sender.open().send(bytes.subarray(0, cut));
    await wire.read();
    wire.send(bytes.subarray(cut));
    t.deepEqual([(await wire.next())?.status, (await wire.next())?.status], [200, 415], `cut at ${cut}`);
    wire.socket.destroy();
  }
});

test('many requests are served on one connection', async (t) => {
  await using sender = await sending();
  const wire = sender.open();
  const peer = await wire.peer();
  const listeners = (): number[] => peer.eventNames().map((name) => peer.listenerCount(name));
  t.is((await wire.send(sender.bytes(good)).next())?.status, 200);
  const before = listeners();
  for (let n = 0; n < 300; n++) {
    t.is((await wire.send(sender.bytes(good)).next())?.by, 'plain');
    t.is((await wire.send(sender.bytes(refused)).next())?.status, 415);
  }
  t.is(sender.bus.members().length, 301);
  t.deepEqual(listeners(), before);
});

test('Node serves what follows a request that is not plain', async (t) => {
  await using sender = await sending();
  const wire = sender.open();
  const by: unknown[] = [];
  for (const raw of [good, refused, special, good, refused, special, good])
    by.push((await wire.send(sender.bytes(raw)).next())?.by);
  t.deepEqual(by, ['plain', 'plain', 'node', 'node', 'node', 'node', 'node']);
  t.is(sender.bus.members().length, 5);
});

test('what comes behind a call that waits for the bus is answered behind it', async (t) => {
  await using sender = await sending();
  const { bus } = sender;
  const { promise, resolve } = Promise.withResolvers<void>();
  bus.held = promise;
  const wire = sender.open().send(sender.bytes(good + refused + malformed + headOf(0)));
  await until('the bus is asked', () => bus.publishes === 1);
  await wire
    .send(sender.bytes(refused + good + special))
    .send(sender.bytes(good))
    .read();
  t.deepEqual(wire.answers, []);
  t.is(bus.publishes, 1);
  bus.held = undefined;
  resolve();
  const statuses: unknown[] = [];
  for (let n = 0; n < 8; n++) statuses.push((await wire.next())?.status);
  t.deepEqual(statuses, [200, 415, 400, 200, 415, 200, 200, 200]);
  t.is(bus.members().length, 4);
  t.is(bus.deadLetters().length, 1);
});

for (const [title, raw, status] of [
  ['refused', refused, 415],
  ['good', good, 200],
  ['malformed', malformed, 400],
  ['empty', headOf(0), 200],
] as const)
  test(`2,000 requests at once on one connection are each answered: ${title}`, async (t) => {
    await using sender = await sending();
    const count = 2_000;
    const wire = sender.open().send(Buffer.concat(Array.from({ length: count }, () => sender.bytes(raw))));
    for (let n = 0; n < count; n++) {
      const answered = await wire.next();
      if (answered?.status !== status) t.fail(`${n}: ${answered?.status}`);
    }
    t.is(wire.answers.length, count);
    t.is((await wire.send(sender.bytes(good)).next())?.status, 200);
  });

test('requests of two connections are not mixed up', async (t) => {
  await using sender = await sending();
  const one = sender.open();
  const other = sender.open();
  for (let n = 0; n < 50; n++) {
    const bytes = sender.bytes(good);
    const at = 1 + ((n * 37) % (bytes.length - 1));
    one.send(bytes.subarray(0, at));
    other.send(sender.bytes(refused));
    one.send(bytes.subarray(at));
    t.is((await one.next())?.status, 200);
    t.is((await other.next())?.status, 415);
  }
});

/** Where a connection is given to Node's server, with so many bytes in hand. */
const handOvers: readonly [title: string, first: string, second: string, statuses: readonly number[]][] = [
  ['special behind plain', good + special, '', [200, 200]],
  ['special behind refused', refused + special + good, '', [415, 200, 200]],
  ['a head that is cut', good + good.slice(0, 30), good.slice(30), [200, 200]],
  ['a first letter', `${refused}P`, good.slice(1), [415, 200]],
  ['a special body that is cut', good + special.slice(0, -10), special.slice(-10), [200, 200]],
  ['rubbish', `${good}rubbish\r\n\r\n`, '', [200, 400]],
  ['more body than was announced', `${good}\0\0`, '', [200, 400]],
  ['one that closes', `${good}${good.replace('Host', 'Connection: close\r\nHost')}`, '', [200, 200]],
];

for (const [title, first, second, statuses] of handOvers)
  for (const isHeld of [false, true])
    test(`a connection is handed over with nothing lost: ${title}${isHeld ? ', while the bus waits' : ''}`, async (t) => {
      await using sender = await sending();
      const held = Promise.withResolvers<void>();
      if (isHeld) sender.bus.held = held.promise;
      // Placeholders are filled together: a cut may be in one.
      const bytes = sender.bytes(first + second);
      const cut = second === '' ? bytes.length : bytes.length - sender.bytes(second).length;
      const wire = sender.open().send(bytes.subarray(0, cut));
      await wire.read();
      wire.send(bytes.subarray(cut));
      await wire.read();
      sender.bus.held = undefined;
      held.resolve();
      const came: unknown[] = [];
      for (const _ of statuses) came.push((await wire.next())?.status);
      t.deepEqual(came, statuses);
    });

test('half a megabyte that comes behind a waiting call is served behind it, by both readers', async (t) => {
  await using sender = await sending();
  const held = Promise.withResolvers<void>();
  sender.bus.held = held.promise;
  const many = 1_000;
  const each = Buffer.concat([sender.bytes(refused), sender.bytes(good)]);
  const bytes = Buffer.concat([
    ...Array.from({ length: many }, () => each),
    sender.bytes(special),
    ...Array.from({ length: many }, () => each),
  ]);
  const wire = sender.open().send(sender.bytes(good)).send(bytes);
  await until('the bus is asked', () => sender.bus.publishes === 1);
  sender.bus.held = undefined;
  held.resolve();
  t.is((await wire.next())?.status, 200);
  for (let n = 0; n < 2 * many; n++) {
    if (n === many) t.is((await wire.next())?.by, 'node');
    const pair = [(await wire.next())?.status, (await wire.next())?.status];
    if (pair[0] !== 415 || pair[1] !== 200) t.deepEqual(pair, [415, 200], `${n}`);
  }
  t.is(wire.answers[1]?.by, 'plain');
});

test('an answer says when it was given, to the second', async (t) => {
  await using sender = await sending();
  const wire = sender.open();
  for (let n = 0; n < 2; n++) {
    if (n > 0) await new Promise((resolve) => setTimeout(resolve, 2_100));
    const before = Date.now();
    const answered = await wire.send(sender.bytes(refused)).next();
    const date = Date.parse(answered?.headers['date'] ?? '');
    t.true(date > before - 1_000 && date <= Date.now(), answered?.headers['date']);
  }
});
