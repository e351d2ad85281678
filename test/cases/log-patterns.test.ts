/** The log pattern miner: masking, guarantees of its ids, and its limits. */

import { createHash } from 'node:crypto';
import test from 'ava';
import fc from 'fast-check';
import { type AddResult, defaultMinerOptions, Miner, type MinerOptions } from '../../processors/log-patterns/miner.ts';
import { ValueCounts } from '../../processors/log-patterns/values.ts';
import { OTHER_ID } from '../../queries/log-patterns/pattern-id.ts';
import { Tokens, VARIABLE, type WireBody } from '../../queries/log-patterns/tokens.ts';
import { WordSet } from '../../queries/log-patterns/word-set.ts';
import { createSketch, estimateCount, mergeSketches } from '../../subjects/log-patterns/distinct-values.ts';
import { propertyRuns } from '../budget.ts';
import { samePairs } from './grouping.ts';
import { randomOf } from './random.ts';

const key = 'tenant/service';
const templateOf = (body: string): string => new Miner().add(key, body).template;

const masked: readonly (readonly [string, string])[] = [
  ['took 12 steps', 'took <number> steps'],
  ['took -3.5e7 steps', 'took <id> steps'],
  ['took 12 ms', 'took <number>'],
  ['took 12 milliseconds in all', 'took <number> in all'],
  ['sent 2451 bytes (2.39 KB) to disk', 'sent <number> to disk'],
  ['from 192.0.2.1 (host.a.example) now', 'from <address> now'],
  ['from 192.0.2.1 () now', 'from <address> now'],
  ['[7] (8) done {9} [10]', '<number> done <number>'],
  ['sent 18.4 KB to disk', 'sent <number> to disk'],
  ['mask 0xffAB01 set', 'mask <hex> set'],
  ['mask deadbeefcafe set', 'mask <hex> set'],
  ['order 0b1c0564-fe1a-409b-b8cc-1e88b294cd1d paid', 'order <uuid> paid'],
  ['from 192.0.2.1 port', 'from <address> port'],
  ['from 192.0.2.1:8080 port', 'from <address> port'],
  ['from www.example.org:443 port', 'from <address> port'],
  ['from localhost:443 port', 'from <address> port'],
  ['from 2001:db8:0:0:1:ff:fe:1 port', 'from <address> port'],
  ['from 00:11:43:e3:ba:c3 port', 'from <address> port'],
  ['mail to ann@example.org bounced', 'mail to <email> bounced'],
  ['fetch https://example.org/a?b=c&d=e#f failed', 'fetch <url> failed'],
  ['open /var/lib/x.db failed', 'open <path> failed'],
  ['open C:\\Windows\\x.dll failed', 'open <path> failed'],
  ['at 2026-01-02 03:04:05,678 it began', 'at <number> it began'],
  ['at 2026-01-02T03:04:05.678Z it began', 'at <id> it began'],
  ['at Wed Jun 22 13:16:30 2005 it began', 'at <time> it began'],
  ['tag "View Lock" held', 'tag "<quoted>" held'],
  ["user 'ann' can't log in", "user '<quoted>' can't log in"],
  ['"SyncLoop ADD" source="api" pods=["a/b"]', '"SyncLoop ADD" source="<quoted>" pods=["<quoted>"]'],
  ['"Started 3 pods" node="a"', '"Started <number> pods" node="<quoted>"'],
  [
    'I0102 03:04:05.678901 123 kubelet.go:23] "Probe failed" err="no \\"x\\" there" pod="a/b"',
    '<id>] "Probe failed" err="<quoted>" pod="<quoted>"',
  ],
  ['I0102 03:04:05.678901 123 kubelet.go:23] "Synced"', '<id>] "Synced"'],
  ['"a b" is no key', '"<quoted>" is no key'],
  ['dir="C:\\a\\" is gone', 'dir="<quoted>" is gone'],
  ['nginx.service: Succeeded', '<name>: Succeeded'],
  ['Closed cups.socket', 'Closed <name>'],
  ['Started nginx.service - A web server and a proxy.', 'Started <name>.'],
  ['Stopping nginx.service - A web server...', 'Stopping <name>...'],
  ['Started nginx.service -', 'Started <name> -'],
  ['systemd[1]: Reached target nginx.target - A web server.', 'systemd[<number>]: Reached target <name>.'],
  ['Failed to start nginx.service - A web server.', 'Failed to start <name>.'],
  ['Dependency failed for nginx.service - A web server.', 'Dependency failed for <name>.'],
  ['auth.service - login failed', '<name> - login failed'],
  ['auth.service - database unreachable', '<name> - database unreachable'],
  ['request for auth.service - login failed', 'request for <name> - login failed'],
  ['Restarted auth.service - login failed', 'Restarted <name> - login failed'],
  ['"Mounted volume \\"a b\\" of pod" pod="a/b"', '"Mounted volume \\"<quoted>" of pod" pod="<quoted>"'],
  ['is request.error set', 'is request.error set'],
  ['uid=1000 user=root: denied', 'uid=<number> user=root: denied'],
  ['owner=null: denied', 'owner=<value>: denied'],
  ['owner=None: denied', 'owner=<value>: denied'],
  ['left core.2275 there', 'left core.<number> there'],
  ['left v.2.1 there', 'left <address> there'],
  ['info=Point{x, y}: denied', 'info=<value>: denied'],
  ['class org.example.Thing loaded', 'class <name> loaded'],
  ['caught java.io.IOException here', 'caught java.io.IOException here'],
  ['ids [1, 2, 3] gone', 'ids [<number>] gone'],
  ['ids [a, b] gone', 'ids [<value>] gone'],
  ['args (a, b) gone', 'args (<value>) gone'],
  ['args (a b) gone', 'args (a b) gone'],
  ['on node-[0-3,7] now', 'on <id> now'],
  ['id[0] of x', 'id[<number>] of x'],
  ['from ::ffff:192.0.2.1 now', 'from <address> now'],
  ['from fe80::1 now', 'from <address> now'],
  ['call abc::def now', 'call abc::def now'],
  ['first line\n\tat second', 'first line'],
  ['{"level":"info","msg":"User 7 left","at":5}', '{"at":<*>,"level":<*>,"msg":"User <number> left"}'],
  ['{"b":{"c":1},"a":2}', '{"a":<*>,"b.c":<*>}'],
  ['level=info msg="User 7 left" at=5', 'at=<*> level=<*> msg="User <number> left"'],
  ['{"broken": ', '{"broken":'],
  ['', ''],
];

/** Bodies whose only constant text is next to values. */
const constantTexts: readonly (readonly [string, string])[] = [
  ['订单12345支付失败', '订单<number>支付失败'],
  ['Failed: 库存98765不足 code=9', 'Failed: 库存<number>不足 code=<number>'],
  ['错误代码：500，数据库连接失败', '错误代码：<number>，数据库连接失败'],
  ['エラー500が発生しました', 'エラー<number>が発生しました'],
  ['주문123결제실패', '주문<number>결제실패'],
  ['คำสั่งซื้อ123ล้มเหลว', 'คำสั่งซื้อ<number>ล้มเหลว'],
  ['заказ42отклонён', 'заказ<number>отклонён'],
  ['Überweisung4711 offen', 'Überweisung<number> offen'],
  ['耗时12.5秒，共３次', '耗时<number>秒，共<number>次'],
  ['خطأ رقم ٥٠٠', 'خطأ رقم <number>'],
  ['上传到s3失败', '上传到s3失败'],
  ['用户user7登录失败', '用户<id>登录失败'],
  ['用户“张三”登录失败', '用户“<quoted>”登录失败'],
  ['数据库MySQL连接失败', '数据库MySQL连接失败'],
  ['注文cfedcabdを処理', '注文<hex>を処理'],
  ['LvMJs9NRic', '<id>'],
  ['请访问https://a.example/b，谢谢', '请访问<url>，谢谢'],
  ['✅build42ok', '✅build<number>ok'],
  ['OrderFailed500', 'OrderFailed<number>'],
  ['stock_456_missing', 'stock_<number>_missing'],
  ['order-123-failed', 'order-<number>-failed'],
  ['orders/17/failed', 'orders/<number>/failed'],
  ['order.payment.failed', 'order.payment.failed'],
  ['E1001', 'E<number>'],
  ['"disk full"', '"disk full"'],
  ['x8Kq9f3L-2a', '<id>'],
  ['deadbeefcafe', '<hex>'],
  ['2026-01-02T03:04:05.678Z', '<id>'],
  ['/var/lib/x.db', '<path>'],
  ['s3 request denied', 's3 request denied'],
  ['oauth2-proxy denied k8s x86_64', 'oauth2-proxy denied k8s x86_64'],
  ['utf8mb4_general_ci of ipv6 in log4j', 'utf8mb4_general_ci of ipv6 in log4j'],
  ['u2 and h9 on eth0', '<id> and <id> on <id>'],
  ['HTTP 404 from it', 'HTTP 404 from it'],
  ['took 404 steps', 'took <number> steps'],
  ['synchronized to LOCAL(0), stratum 10', 'synchronized to <name>, stratum <number>'],
  ['open(2) failed', 'open(<number>) failed'],
  ['{"@m":"order 5 failed","@l":"Error"}', '{"@l":<*>,"@m":"order <number> failed"}'],
  ['{"error":{"message":"db down"},"a":1}', '{"a":<*>,"error.message":"db down"}'],
  ['{"log":"z y","short_message":"mail refused"}', '{"log":<*>,"short_message":"mail refused"}'],
];

for (const [body, template] of [...masked, ...constantTexts])
  test(`${JSON.stringify(body)} has the template ${JSON.stringify(template)}`, (t) => {
    t.is(templateOf(body), template);
  });

/** All tokens and hashes read from a body. */
const readOf = (tokens: Tokens, body: string | WireBody) => {
  tokens.read(body);
  const { count, shapeHash, structure, form, message } = tokens;
  const places = Array.from({ length: count }, (_, at) => [tokens.readGap(at), tokens.hashes[at], tokens.value(at)]);
  return {
    shape: shapeHash,
    structure,
    form,
    message,
    fields: [...tokens.fields],
    places,
    after: tokens.readGap(count),
  };
};

/** A body in the middle of a message. */
const onTheWire = (body: string): WireBody => {
  const bytes = Buffer.from(`12 ab${body}12 ab`);
  return { body, inspectBody: (inspect) => inspect(bytes, 5, bytes.length - 5) };
};

test('tables and saved states identify patterns by stable numbers', (t) => {
  const tokens = new Tokens();
  const numbers = masked.map(([body]) => {
    tokens.read(body);
    return [tokens.structure, tokens.shapeHash, ...tokens.hashes.subarray(0, tokens.count)].join(' ');
  });
  t.is(
    createHash('sha256').update(numbers.join()).digest('hex'),
    'e6359187f0d1c477984b3d15e604245974ec1c8cba03f1ec220eb509b48e073a',
  );
});

const pieces = [
  ...masked.flatMap(([body]) => body.split(/(?<= )/)),
  ...[
    ' ',
    '\n',
    '\r\n',
    '\t',
    'é',
    '中',
    '😀',
    '\0',
    '..',
    '::',
    '"',
    "'",
    '[',
    '(',
    '{',
    '=',
    '<7',
    '@',
    'KB',
    '\u212ab',
    'µs',
  ],
];

test('the bytes of a body are tokenized like its text', (t) => {
  const ofText = new Tokens();
  const ofBytes = new Tokens();
  const same = (body: string): void => {
    t.deepEqual(readOf(ofBytes, onTheWire(body)), readOf(ofText, body), JSON.stringify(body));
  };
  for (const length of [4_090, 4_095, 4_096, 4_097, 9_000])
    for (const word of ['a', 'a ', '1 ', 'ab.', '\n']) {
      same(word.repeat(length).slice(0, length));
      same(`${'x y '.repeat(1_000)}\n${word.repeat(length)}`);
      same(`${word.repeat(length).slice(0, length)}é`);
    }
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces), { maxLength: 12 }), (parts) => same(parts.join(''))),
    { numRuns: 3_000, seed: 9 },
  );
});

test('a masked text has the mark for each variable, and its words and gaps equal those of its tokens', (t) => {
  const tokens = new Tokens();
  const same = (body: string): void => {
    tokens.read(body);
    const texts = Array.from(tokens.hashes.subarray(0, tokens.count), (hash, at) => {
      return tokens.readGap(at) + (hash === VARIABLE ? '<*>' : tokens.value(at));
    });
    t.is(tokens.maskVariables('<*>'), texts.join('') + tokens.readGap(tokens.count), JSON.stringify(body));
  };
  for (const word of ['a ', 'a 1 ', '<1 ']) same(word.repeat(200));
  tokens.read('took <7 ms of < 9 s');
  t.is(tokens.maskVariables('<*>'), 'took <*> of < <*>', 'the sign of a number is a part of it');
  const between = ['  ', ' \t ', '<<7', ' <7', '>', '\u00a0', '\u2028', '~'.repeat(64), '-'.repeat(70), ' word', '9'];
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...pieces, ...between), { maxLength: 12 }), (parts) => same(parts.join(''))),
    { numRuns: propertyRuns(6_000) },
  );
});

test('words are matched case-insensitively, by their lower case', (t) => {
  const letters = 'abcdefghijklmnopqrstuvwxyzµ';
  const set = new WordSet([...letters]);
  for (let code = 0; code < 0x10000; code++) {
    const small = String.fromCharCode(code).toLowerCase();
    const isOne = small.length === 1 && letters.includes(small);
    if (set.has(Uint16Array.of(code), 0, 1) !== isOne || set.hasPrefix(code) !== isOne)
      t.fail(`U+${code.toString(16)}`);
  }
  const words = new WordSet(['ms', 'msec']);
  const has = (text: string) =>
    words.has(
      Uint16Array.from(text, (one) => one.charCodeAt(0)),
      0,
      text.length,
    );
  t.deepEqual(['ms', 'MSec', 'm', 'mse', 'msecs', ''].map(has), [true, true, false, false, false, false]);
});

test('lists of any length, and keys in any order, have one pattern', (t) => {
  const miner = new Miner();
  const same = (...bodies: string[]) => new Set(bodies.map((body) => miner.add(key, body).id)).size;
  t.is(same('sizes 1', 'sizes 1, 2', 'sizes 1, 2, 3, 4'), 1);
  t.is(same('to 192.0.2.1', 'to 192.0.2.1,192.0.2.2:80'), 1);
  t.is(same('nodes a1 ok', 'nodes a1 ok a2 ok', 'nodes a1 ok a2 ok a3 ok'), 1);
  t.is(same('in id 1', 'in id 1, id 2', 'in id 1, id 2, id 3'), 1);
  t.is(same('{"a":1,"b":2,"msg":"x y"}', '{"msg":"x y","b":7,"a":"q"}'), 1);
  t.is(same('a=1 b=2 msg="x y"', 'msg="x y" b=7 a=3'), 1);
});

test('logfmt keys distinguish bodies, but the numbers in them do not, and the first message is the message', (t) => {
  const tokens = new Tokens();
  const structureOf = (body: string): number => {
    tokens.read(body);
    return tokens.structure;
  };
  const structures = (...bodies: string[]) => new Set(bodies.map(structureOf)).size;
  t.is(structures('k1=1 k22=2 msg="x y"', 'k305=2 k9=7 msg="x y"'), 1);
  t.is(structures('k1=1 k22=2 msg="x y"', 'k1=1 k22b=2 msg="x y"', 'k1=1 k22=2 log="x y"'), 3);
  tokens.read('a=1 msg="x y" b="c d" msg=z e=');
  t.is(tokens.message, 'msg');
  t.deepEqual(tokens.fields, [
    ['a', '1'],
    ['b', 'c d'],
    ['msg', 'z'],
    ['e', ''],
  ]);
  tokens.read('a=1 msg="x y" and more');
  t.deepEqual([tokens.form, tokens.message, tokens.fields], ['text', '', []]);
});

test('punctuation and extra values between equal words give the same pattern; other words or word order do not', (t) => {
  const ids = (...bodies: string[]) => new Set(bodies.map((body) => new Miner().add(key, body).id)).size;
  t.is(ids('user 7 left', 'user: 7 left', 'user=7 (8) left!', '[user] "7" - left'), 1);
  t.is(ids('user 7 left', '7 user left', 'left 7 user', 'user left', 'user 7 left 8'), 5);
  t.is(ids('---- 7', '==== 7', '----', '===='), 4);
});

test('an id is a function of the words only, not of the values, the order or the miner', (t) => {
  const one = new Miner().add(key, 'user 7 left');
  const miner = new Miner();
  miner.add(key, 'something else');
  t.is(miner.add(key, 'user x-9a left').id, one.id);
  t.is(miner.add('another', 'user 0xff left').id, one.id);
});

test('words that vary become a variable, and earlier ids stay readable as aliases', (t) => {
  const miner = new Miner();
  const names = ['ann', 'bob', 'cleo', 'dan', 'eve'];
  const added = names.map((name) => miner.add(key, `Failed password for ${name} from 192.0.2.1`));
  const first = added[0] as AddResult;
  const last = added[4] as AddResult;
  t.true(added.slice(0, 4).every(({ isNew, merged }) => isNew && merged.length === 0));
  t.is(last.template, 'Failed password for <*> from <address>');
  t.deepEqual(
    new Set(last.merged),
    new Set([
      ...added.slice(0, 4).map(({ id }) => id),
      new Miner().add(key, 'Failed password for eve from 192.0.2.1').id,
    ]),
  );
  t.not(first.id, last.id);
  for (const { id } of added) t.is(miner.resolve(key, id), last.id);
  t.like(miner.add(key, 'Failed password for zoe from 192.0.2.1'), { id: last.id, isNew: false, merged: [] });
  t.is(miner.add(key, 'Failed password for 17 from 192.0.2.1').id, last.id);
  const [pattern] = miner.patterns(key);
  t.is(pattern?.count, 7);
});

test('names between letters of another script become a variable', (t) => {
  const miner = new Miner();
  for (const name of ['anna', 'bert7', 'Carla', 'x9k2', 'emil']) miner.add(key, `用户${name}登录成功`);
  t.deepEqual(
    miner.patterns(key).map(({ template }) => template),
    ['用户<*>登录成功'],
  );
});

test('the first word can vary', (t) => {
  const miner = new Miner();
  for (const name of ['ann', 'bob', 'cleo', 'dan', 'eve']) miner.add(key, `${name} logged in from the office`);
  t.deepEqual(
    miner.patterns(key).map(({ template }) => template),
    ['<*> logged in from the office'],
  );
});

test('the states of a machine have separate patterns', (t) => {
  const miner = new Miner();
  for (const state of ['NEW', 'RUNNING', 'FAILED', 'DONE', 'KILLED']) miner.add(key, `Task 7 went to ${state} now`);
  t.is(miner.patterns(key).length, 5);
});

test('frequent values and the range of numbers are stored for each variable', (t) => {
  const miner = new Miner();
  for (let index = 0; index < 40; index++)
    miner.add(key, `status ${index % 4 === 0 ? 500 : 200} after ${index}ms by all`);
  const [pattern] = miner.patterns(key);
  t.like(pattern?.values.get('1')?.summarize(), {
    observed: 40,
    numbers: 40,
    min: 200,
    max: 500,
    top: [
      ['200', 30],
      ['500', 10],
    ],
  });
  t.like(pattern?.values.get('3')?.summarize(), { numbers: 40, min: 0, max: 39 });
});

test('no value is counted more often than it occurred, and frequent values are reported', (t) => {
  const values = new ValueCounts('1', 4);
  const truth = new Map<string, number>();
  const random = randomOf(7);
  for (let index = 0; index < 5_000; index++) {
    const value = random() < 0.4 ? 'often' : `user-${Math.floor(random() * 600)}`;
    truth.set(value, (truth.get(value) ?? 0) + 1);
    values.add(value);
  }
  const { top } = values.summarize();
  for (const [value, minCount] of top) t.true(minCount <= (truth.get(value) ?? 0), `${value} ${minCount}`);
  t.is(top[0]?.[0], 'often');
  t.true((top[0]?.[1] ?? 0) > (truth.get('often') ?? 0) / 2);
});

test('words that became a variable preserve their counts', (t) => {
  const values = new ValueCounts('1', 4);
  const names = ['anna', 'bert', 'carla', 'dora', 'emil'];
  for (const name of names) values.add(name, 1_000);
  t.is(values.summarize().top.length, 3, 'they are no identifier, of which two would remain');
});

test('the number of distinct values is accurate within 20 %, also for merged sketches', (t) => {
  for (const count of [20, 200, 2_000, 200_000]) {
    const [one, other] = [0, count / 2].map((first) =>
      createSketch(Array.from({ length: count }, (_, at) => `order-${first + at}`)),
    ) as [string, string];
    const [alone, both] = [estimateCount(one), estimateCount(mergeSketches(one, other))];
    t.true(Math.abs(alone / count - 1) < 0.2, `${alone} of ${count}`);
    t.true(Math.abs(both / (1.5 * count) - 1) < 0.2, `${both} of ${1.5 * count}`);
  }
});

test('merging the values of two patterns preserves every count as a lower bound', (t) => {
  const [one, other] = [new ValueCounts('1', 4), new ValueCounts('1', 4)];
  for (let index = 0; index < 300; index++) one.add(index % 3 === 0 ? 'left' : `a${index}`);
  for (let index = 0; index < 300; index++) other.add(index % 3 === 0 ? 'right' : `b${index}`);
  one.merge(other);
  const { top, observed, distinct } = one.summarize();
  t.is(observed, 600);
  for (const [value, minCount] of top) t.true(minCount <= (['left', 'right'].includes(value) ? 100 : 1), value);
  const about = estimateCount(distinct ?? '');
  t.true(about > 402 * 0.8 && about < 402 * 1.2, String(about));
});

const words = [
  'red',
  'green',
  'blue',
  'start',
  'stop',
  'user',
  'disk',
  'queue',
  'NEW',
  'OLD',
  '17',
  '0x1f',
  '/a/b',
  'x=1',
];
const line = fc.array(fc.constantFrom(...words), { minLength: 1, maxLength: 6 }).map((each) => each.join(' '));

test('the same lines in another order give the same groups', (t) => {
  const events = ['opened file', 'lost the connection to', 'sent mail to', 'removed the entry of'];
  const names = ['ann', 'bob', 'cleo', 'dan', 'eve', 'fay', 'u1', '17'];
  const event = fc
    .tuple(fc.constantFrom(...events), fc.constantFrom(...names))
    .map(([what, who]) => `${what} ${who} today`);
  const orders = fc
    .array(event, { minLength: 40, maxLength: 120 })
    .chain((lines) =>
      fc.tuple(
        fc.constant(lines),
        fc.shuffledSubarray([...lines.keys()], { minLength: lines.length, maxLength: lines.length }),
      ),
    );
  const shares: number[] = [];
  fc.assert(
    fc.property(orders, ([lines, order]) => {
      const group = (places: readonly number[]) => {
        const miner = new Miner();
        const ids: string[] = [];
        for (const place of places) ids[place] = miner.add(key, lines[place] as string).id;
        return ids.map((id) => miner.resolve(key, id));
      };
      shares.push(samePairs(group([...lines.keys()]), group(order)));
    }),
    { numRuns: 100, seed: 9 },
  );
  t.true(Math.min(...shares) >= 0.98, `least share ${Math.min(...shares)}`);
});

const small: MinerOptions = { ...defaultMinerOptions, maxPatterns: 50, maxTotal: 80, maxScopes: 3 };

/** A line with words that no other line has. */
const random = (seed: number): string => {
  const makeLetters = (from: number): string =>
    [...Math.imul(from, 2_654_435_761).toString()].map((digit) => 'abcdefghij-'['0123456789-'.indexOf(digit)]).join('');
  return Array.from({ length: 3 + (seed % 9) }, (_, at) => makeLetters(seed * 31 + at + 1)).join(' ');
};

test('a restored miner continues like the serialized miner', (t) => {
  fc.assert(
    fc.property(fc.array(line, { maxLength: 80 }), fc.array(line, { maxLength: 40 }), (before, after) => {
      const miner = new Miner();
      for (const body of before) miner.add(key, body);
      const restored = Miner.restore(miner.serialize());
      if (restored === undefined) return false;
      for (const body of after) t.deepEqual(restored.add(key, body), miner.add(key, body));
      t.deepEqual(restored.size, miner.size);
      t.deepEqual(restored.serialize(), miner.serialize());
      for (const { id } of before.map((body) => new Miner().add(key, body)))
        t.is(restored.resolve(key, id), miner.resolve(key, id));
      return true;
    }),
    { numRuns: 100, seed: 9 },
  );
  t.is(Miner.restore(Uint8Array.of(99, 1, 2)), undefined);
  const full = new Miner(small);
  for (let index = 0; index < 300; index++) full.add(key, random(index));
  const again = Miner.restore(full.serialize(), small);
  for (let index = 250; index < 350; index++) t.deepEqual(again?.add(key, random(index)), full.add(key, random(index)));
  t.deepEqual(again?.serialize(), full.serialize());
});

test('a cached form maps to the pattern that a restored miner finds for it, even after another pattern widened', (t) => {
  const before =
    'ared fix cteal|fix fix pink|pink fix cgreen|fix bred cteal|fix pink fix|gray fix cpink|fix bgreen fix|ateal fix cblue|fix red blue|fix bgray teal|fix bpink fix|fix fix fix|fix bteal fix|teal fix gray';
  const after =
    'fix bgreen cred|blue fix blue|fix gray cgreen|agreen fix cred|fix bred cpink|fix bred green|fix fix fix';
  const lines = (list: string): string[] => list.split('|').map((each) => `start ${each}`);
  const miner = new Miner();
  for (const body of lines(before)) miner.add(key, body);
  const restored = Miner.restore(miner.serialize());
  for (const body of lines(after)) t.deepEqual(restored?.add(key, body), miner.add(key, body), body);
});

test('a flood of random lines collapses into one counted pattern, and known patterns are preserved', (t) => {
  const miner = new Miner(small);
  const known = miner.add(key, 'user 7 left').id;
  for (let index = 0; index < 200; index++) miner.add(key, `user ${index} left`);
  const ids = new Set<string>();
  for (let index = 0; index < 20_000; index++) ids.add(miner.add(key, random(index)).id);
  const size = miner.serialize().length;
  for (let index = 20_000; index < 40_000; index++) ids.add(miner.add(key, random(index)).id);
  t.true(ids.size <= 60, `${ids.size} ids`);
  t.true(ids.has(OTHER_ID));
  t.true(miner.size.patterns <= 50);
  t.true(miner.other(key) > 39_000);
  t.true(miner.serialize().length < size * 1.1);
  t.is(miner.add(key, 'user 8 left').id, known);
});

test('a new pattern replaces a cold pattern when it occurs again', (t) => {
  const miner = new Miner(small);
  for (let index = 0; index < 500; index++) miner.add(key, random(index));
  t.is(miner.add(key, 'the disk is full').id, OTHER_ID);
  const second = miner.add(key, 'the disk is full');
  t.true(second.isNew);
  t.is(second.template, 'the disk is full');
  t.is(second.id, new Miner().add(key, 'the disk is full').id);
});

test('the total size and number of scopes are bounded', (t) => {
  const miner = new Miner(small);
  for (const scope of ['a', 'b', 'c', 'd'])
    for (let index = 0; index < 200; index++) {
      miner.add(scope, random(index));
      miner.add(scope, random(index));
    }
  t.true(miner.size.patterns <= 80);
  t.is(miner.size.scopes, 3);
  t.is(miner.add('d', 'anything').id, OTHER_ID);
});

test('a JSON body of any depth has one pattern, however little stack is left', (t) => {
  const bodies: [what: string, body: string][] = [
    ['objects', `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`],
    ['arrays', `{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}`],
    ['an object within arrays', `{"a":${'[{"b":'.repeat(7_000)}1${'}]'.repeat(7_000)}}`],
  ];
  for (const [what, body] of bodies) {
    const { id, template } = new Miner().add('shop', body);
    const deep = (calls: number): string => (calls === 0 ? new Miner().add('shop', body).id : deep(calls - 1));
    t.is(deep(4_000), id, what);
    t.true(template.startsWith('{"a'), template.slice(0, 100));
  }
});

test('malicious bodies take time proportional to the part that is read', (t) => {
  const miner = new Miner();
  const bodies = [
    '"a'.repeat(1e6),
    "'a".repeat(1e6),
    '['.repeat(1e6),
    'a:b:'.repeat(1e6),
    'k={'.repeat(1e6),
    '{"a":'.repeat(1e5),
    'a=1 '.repeat(1e6),
  ];
  for (const body of bodies) t.true(miner.add(key, body).template.length < 20_000);
});
