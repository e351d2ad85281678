/** Thousands of random conversations: nothing throws, hangs or leaks. `HTTP2_FUZZ_SEED` repeats a run. */
import test from 'ava';
import {
  block,
  data,
  fieldsTo,
  flag,
  frame,
  opening,
  Peer,
  ping,
  preface,
  request,
  setting,
  settings,
  type,
  uint32,
  whole,
  windowUpdate,
} from './http2-client.ts';
import { closedOnce, serving, stillServes } from './http2-fixture.ts';

const firstSeed = Number(process.env['HTTP2_FUZZ_SEED'] ?? 1);
const atOnce = 50;

/** Pseudorandom numbers, the same for the same seed (mulberry32). */
class Chance {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  below(limit: number): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)));
  }
}

const paths = ['/', '/early', '/only-headers', '/first-bytes', '/silent', '/bytes/70000'];

/** A header block: complete and valid, or invalid in one of many ways. */
const someBlock = (chance: Chance): Buffer => {
  const right = block(fieldsTo(chance.of(paths)), chance.of([0, 0x10, 0x40]));
  const kind = chance.below(12);
  if (kind === 0) return Buffer.concat([right, chance.bytes(chance.below(20))]);
  if (kind === 1) return right.subarray(0, chance.below(right.length));
  if (kind === 2)
    return Buffer.concat([right, block([[chance.of(['te', 'X', ':x', 'a', '']), chance.of(['', 'b', ' '])]])]);
  return right;
};

const payloads: readonly ((chance: Chance) => Buffer)[] = [
  () => Buffer.alloc(0),
  (chance) => chance.bytes(chance.below(40)),
  (chance) => Buffer.alloc(chance.of([1, 100, 16_383, 16_384, 16_385, 20_000]), 'x'),
  (chance) => uint32(chance.of([0, 1, 8, 0x7fff_ffff, 0xffff_ffff])),
  (chance) => uint32(chance.below(9), chance.below(12)),
  (chance) => settings([chance.below(8), chance.of([0, 1, 2, 100, 16_384, 65_535, 0xffff_ffff])]).subarray(9),
  someBlock,
];
const sensible: readonly ((chance: Chance, streamId: number) => Buffer)[] = [
  (chance, id) =>
    frame(
      type.headers,
      chance.of([whole, whole, flag.endHeaders, flag.endHeaders, flag.endHeaders, 0]),
      id,
      someBlock(chance),
    ),
  (chance, id) => data(id, 'x'.repeat(chance.below(100)), chance.below(2)),
  (chance, id) =>
    frame(
      type.data,
      flag.padded | chance.below(2),
      id,
      Buffer.concat([Buffer.from([chance.below(4)]), chance.bytes(5)]),
    ),
  (chance, id) => frame(type.continuation, chance.of([0, flag.endHeaders]), id, someBlock(chance)),
  (chance, id) => windowUpdate(chance.of([0, id]), 1 + chance.below(100_000)),
  (chance) => settings([setting.window, chance.below(100_000)]),
  (chance, id) => frame(type.reset, 0, id, uint32(chance.below(14))),
  (chance, id) => request(id, chance.of(paths)),
  (chance, id) => opening(id, chance.of(paths)),
  () => ping(),
];
/** Frames that a correct client may send, on a new stream. */
const right: typeof sensible = [
  (chance, id) => request(id, chance.of(paths)),
  (chance, id) =>
    Buffer.concat([opening(id, chance.of(paths)), data(id, 'body'), data(id, chance.bytes(chance.below(50)), 1)]),
  (chance, id) => Buffer.concat([opening(id, chance.of(paths)), data(id, 'body')]),
  (chance, id) =>
    Buffer.concat([opening(id, chance.of(paths)), frame(type.headers, whole, id, block([['x-sum', '1']], 0x40))]),
  (_, id) => Buffer.concat([opening(id, '/silent'), frame(type.reset, 0, id, uint32(8))]),
  (chance) => windowUpdate(0, 1 + chance.below(100_000)),
  (chance) => settings([setting.window, chance.below(100_000)]),
  (chance) => frame(16 + chance.below(200), chance.below(256), chance.below(9), chance.bytes(chance.below(30))),
];
/** Few streams, so that frames often use the same stream. */
const streams = [0, 1, 1, 1, 3, 3, 3, 5, 7, 2, 0x7fff_fffd];
const anyFrame = (chance: Chance, newStream: number): Buffer => {
  const id = chance.below(2) === 0 ? newStream : chance.of(streams);
  if (chance.below(6) > 0) return chance.of(sensible)(chance, id);
  return frame(chance.of([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 255]), chance.below(256), id, chance.of(payloads)(chance));
};
const frames = (chance: Chance): Buffer[] => {
  const carelessness = chance.of([1, 20, 100]);
  return Array.from({ length: 1 + chance.below(10) }, (_, index) =>
    chance.below(carelessness) === 0 ? anyFrame(chance, 2 * index + 1) : chance.of(right)(chance, 2 * index + 1),
  );
};

/** Runs `count` conversations, several at a time; a failure contains the seed that repeats it. */
const hold = async (count: number, conversation: (chance: Chance) => Promise<void>): Promise<void> => {
  let next = firstSeed;
  const worker = async (): Promise<void> => {
    while (next < firstSeed + count) {
      const seed = next++;
      try {
        await conversation(new Chance(seed));
      } catch (error) {
        throw new Error(`seed ${seed}: ${(error as Error).message}`, { cause: error });
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
};

test.serial('whatever frames arrive, a connection ends with GOAWAY or answers the next request', async (t) => {
  await using fixture = await serving();
  let ended = 0;
  let response = 0;
  await hold(5_000, async (chance) => {
    const peer = new Peer(fixture.port).greet().send(...frames(chance));
    // In an open header block this is an error; anywhere else it is a valid request.
    peer.send(settings([setting.window, 65_535]), request(0x7fff_ffff));
    await peer.until('the end', () => peer.isClosed || peer.events.includes('answer 2147483647 200'));
    if (peer.isClosed) {
      if (!peer.events.some((one) => one.startsWith('goaway')))
        throw new Error(`closed without a word: ${peer.events}`);
      ended++;
    } else response++;
    peer.socket.destroy();
  });
  t.log(`${response} answered, ${ended} ended`);
  t.true(response > 1_000 && ended > 1_000, 'chance makes both');
  await fixture.empty();
  t.true(fixture.calls.length > 1_000);
  closedOnce(t, fixture);
  await stillServes(t, fixture);
});

const valid = Buffer.concat([
  Buffer.from(preface),
  settings([setting.window, 50_000]),
  opening(1, '/', [['content-length', '8']]),
  data(1, 'body'),
  frame(type.headers, 0, 3, block(fieldsTo('/early'), 0x40)),
  frame(type.continuation, flag.endHeaders, 3, block([['x-more', 'yes']])),
  frame(type.data, flag.padded, 1, '\x02body\0\0'),
  frame(type.headers, whole, 1, block([['x-sum', '1']])),
  windowUpdate(0, 1_000),
  request(5, '/bytes/70000'),
  ping(),
  frame(type.headers, whole | flag.priority, 7, Buffer.concat([uint32(5), Buffer.from([7]), block(fieldsTo('/'))])),
  frame(type.reset, 0, 5, uint32(8)),
]);

/** One change of a conversation: a bit, a byte, or a part that is removed, repeated or random. */
const changed = (chance: Chance, bytes: Buffer): Buffer => {
  const at = chance.below(bytes.length);
  const end = Math.min(bytes.length, at + 1 + chance.below(30));
  const copy = Buffer.from(bytes);
  switch (chance.below(6)) {
    case 0:
      copy[at] = (copy[at] ?? 0) ^ (1 << chance.below(8));
      return copy;
    case 1:
      copy[at] = chance.below(256);
      return copy;
    case 2:
      return Buffer.concat([bytes.subarray(0, at), bytes.subarray(end)]);
    case 3:
      return Buffer.concat([bytes.subarray(0, end), bytes.subarray(at)]);
    case 4:
      return bytes.subarray(0, at);
    default:
      return Buffer.concat([bytes.subarray(0, at), chance.bytes(end - at), bytes.subarray(at)]);
  }
};

test.serial(
  'however a conversation is corrupted in transit, its connection ends when its peer disconnects',
  async (t) => {
    await using fixture = await serving();
    await hold(5_000, async (chance) => {
      let bytes: Buffer = valid;
      for (let left = 1 + chance.below(4); left > 0; left--) bytes = changed(chance, bytes);
      const peer = new Peer(fixture.port).plain();
      const cut = chance.below(bytes.length + 1);
      peer.send(bytes.subarray(0, cut));
      if (chance.below(2) === 0) await new Promise((resolve) => setImmediate(resolve));
      peer.send(bytes.subarray(cut));
      if (chance.below(8) === 0) peer.socket.destroy();
      else peer.socket.end();
      await peer.closed();
    });
    await fixture.empty();
    t.log(`${fixture.calls.length} calls`);
    t.true(fixture.calls.length > 3_000);
    closedOnce(t, fixture);
    await stillServes(t, fixture);
  },
);
