/** Search matches displayed text: in twelve scripts, in any case, and with color codes; SQL and the predicate agree. */
import test, { type ExecutionContext } from 'ava';
import fc from 'fast-check';
import { buildSearchCondition } from '../../queries/search/condition.ts';
import { parseSearch } from '../../queries/search/parse.ts';
import { buildPredicate } from '../../queries/search/predicate.ts';
import { iterateItems } from '../../schemas/records/source.ts';
import { logRecords } from '../../schemas/records/sources.ts';
import { buildUnusualWordsSql } from '../../schemas/tables/search-text.ts';
import { propertyRuns } from '../budget.ts';
import { logsRequest, messageOf, openTables, type Tables } from './sink-tables.ts';

let tables: Tables;
test.before(async () => {
  tables = await openTables();
});
test.after.always(() => tables.close());

let runs = 0;
/** The numbers of the bodies that each search finds. */
const find = (t: ExecutionContext, bodies: readonly string[], searches: readonly string[]) =>
  findRecords(
    t,
    bodies.map((stringValue) => ({ body: { stringValue } })),
    searches,
  );

/** The numbers of the records that each search finds with SQL, which must equal those of the predicate. */
const findRecords = async (
  t: ExecutionContext,
  logs: readonly object[],
  searches: readonly string[],
): Promise<readonly (readonly number[])[]> => {
  const tenant = `scripts-${++runs}`;
  const message = messageOf([logsRequest({ resourceLogs: [{ scopeLogs: [{ logRecords: logs }] }] })], {
    tenantId: tenant,
    signal: 'logs',
  });
  await tables.land([message], { sink: 'logs' });
  const [unequal] = await tables.columns.query<{ rows: string }>(
    `SELECT count() AS rows FROM logs WHERE tenant_id = {tenant:String} AND body_words != ${buildUnusualWordsSql('body')}`,
    { tenant },
  );
  t.is(Number(unequal?.rows), 0, 'the sink and the engine disagree about words');
  const { value, ...rest } = message;
  const delivered = { ...rest, key: '', value: Buffer.from(value) };
  const parameters: Record<string, string> = {};
  const columns = searches.map((text, index) => {
    const prefix = `c${index}_`;
    const condition = buildSearchCondition(parseSearch(text, 'logs'), 'logs', { prefix });
    Object.assign(parameters, condition.parameters);
    return `toUInt8(${condition.sql})`;
  });
  const rows = await tables.columns
    .forTenant(tenant)
    .query<{ ordinal: number; found: number[] }>(
      `SELECT ordinal, [${columns.join(', ')}] AS found FROM logs WHERE tenant_id = {tenant:String} ORDER BY ordinal`,
      parameters,
    );
  return searches.map((text, index) => {
    const bySql = rows.filter(({ found }) => found[index] === 1).map(({ ordinal }) => ordinal);
    const isFound = buildPredicate(parseSearch(text, 'logs'), 'logs');
    const byPredicate: number[] = [];
    for (const record of iterateItems(logRecords, delivered, { topic: 'any', partition: 0 }))
      if (isFound(record)) byPredicate.push(record.ordinal);
    t.deepEqual(bySql, byPredicate, `${text} in ${JSON.stringify(logs)}`);
    return bySql;
  });
};

const sequence = '\u001b';
/** A body, searches that match it, and searches that do not. */
const examples: Readonly<Record<string, readonly [body: string, found: readonly string[], missed: readonly string[]]>> =
  {
    'a colored word': [
      `${sequence}[32mDEBUG${sequence}[0;39m started`,
      ['debug', '"DEBUG started"', '/^DEBUG/'],
      ['32mDEBUG'],
    ],
    '256 colors': [`${sequence}[38;5;196mredtext${sequence}[m`, ['redtext'], ['196']],
    'a colored value': [`level=${sequence}[33mwarn${sequence}[0m`, ['warn', 'level=warn'], ['33mwarn']],
    'a part of a word is bold': [`pay${sequence}[1m${sequence}[Kment${sequence}[m${sequence}[K`, ['payment'], ['pay']],
    'a link': [
      `${sequence}]8;;https://a.example/x${sequence}\\docs${sequence}]8;;${sequence}\\ here`,
      ['"docs here"'],
      ['8'],
    ],
    'colors in JSON': ['{"msg":"\\u001b[31mERROR\\u001b[0m failed"}', ['error', '"error failed"'], ['31mERROR']],
    Chinese: ['数据库连接失败请重试', ['数据库', '连接失败', '"重试"', '*连接*', '数据*失败'], ['库数', '失败*数据']],
    'Chinese with full-width punctuation': [
      '错误代码：500，订单12345支付失败',
      ['500', '12345', '错误代码', '代码：500'],
      ['501'],
    ],
    Japanese: ['エラー500が発生しました・再試行', ['エラー', '発生', '500', '再試行', 'ｴﾗｰ'], ['ラエ']],
    Korean: ['주문123결제실패', ['결제', '주문', '123', '결제실패'], ['실패결제']],
    Thai: ['การชำระเงินล้มเหลว', ['ชำระเงิน', 'ล้มเหลว'], ['เหลวล้ม']],
    Cyrillic: ['Ошибка подключения к «Базе»', ['ошибка', 'ПОДКЛЮЧЕНИЯ', 'базе', '«базе»'], ['ошиб']],
    Greek: ['ΣΦΑΛΜΑ ΣΥΝΔΕΣΗΣ', ['σφαλμα', 'συνδεσης'], ['σφαλ']],
    German: ['ÜBERLAUF der Größe', ['überlauf', 'GRÖSSE', 'größe'], ['über']],
    Turkish: ['İSTANBUL KAPISI', ['istanbul', 'İstanbul', 'kapısı'], ['kapı']],
    Arabic: ['فشل الاتصال، حاول مرة أخرى', ['الاتصال', 'فشل'], ['اتصال']],
    Hebrew: ['שגיאה: החיבור נכשל', ['שגיאה', '"החיבור נכשל"'], ['חיבור']],
    Hindi: ['त्रुटि हुई। पुनः प्रयास', ['त्रुटि', 'हुई', 'पुनः'], ['त्रु']],
    Armenian: ['ՍԽԱԼ։ կապը', ['սխալ', 'ԿԱՊԸ'], ['սխ']],
    Georgian: ['შეცდომა კავშირში', ['შეცდომა'], ['შეცდ']],
    Vietnamese: ['Kết nối THẤT BẠI', ['kết', 'thất', '"thất bại"', 'ke\u0302\u0301t'], ['that']],
    'full-width letters': ['ＥＲＲＯＲ ４２', ['error', '42'], ['err']],
    'an emoji before a word': ['✅build42ok 🎉', ['✅', 'build42ok', '🎉', '"🎉"'], ['build']],
    'punctuation alone': ['x => y', ['=>', '*=>*', '"=>"', 'x', '"x => y"'], ['[]', '*[]*', '--', '"x =>y"', '"y =>"']],
    brackets: ['list[] of {}', ['[]', '*[]*', 'list[]', '"{}"'], ['=>', 'list[0]']],
    'a host with its port': [
      'dial tcp localhost:8080: refused',
      ['"localhost:8080"', 'localhost\\:8080', 'tcp'],
      ['"localhost:808"'],
    ],
    'addresses of IPv6': ['peer fe80::1 at 2001:db8::ff00:42:8329', ['fe80::1', '2001:db8::ff00:42:8329'], ['fe80::2']],
    'an address of a device': ['link aa:bb:cc:dd:ee:ff up', ['aa:bb:cc:dd:ee:ff'], ['aa:bb:cc:dd:ee:00']],
    'a name of C++': ['throw in std::vector<int>::at', ['std::vector', 'std::vector<int>::at'], ['std::map']],
    'a resource name and a digest': [
      'arn:aws:s3:::bucket sha256:0a1b2c',
      ['"arn:aws:s3:::bucket"', '"sha256:0a1b2c"', 'arn\\:aws\\:s3\\:\\:\\:bucket'],
      ['"arn:aws:s3:bucket"'],
    ],
    'punctuation in another form': [
      'order_42 order.43',
      ['order_42', 'order.43', '"order 42"'],
      ['order-42', '"order_43"'],
    ],
  };

test('colors are not part of a severity', async (t) => {
  const texts = ['INFO', 'Error', 'custom', 'WARNING'].map((text) => `${sequence}[32m${text}${sequence}[0m`);
  const logs = ['INFO', ...texts].map((severityText) => ({ severityText, body: { stringValue: 'x' } }));
  const found: Readonly<Record<string, readonly number[]>> = {
    'severity:info': [0, 1],
    'severity:>=error': [2],
    'severity:warn': [4],
    'severity:custom': [3],
    'severityText:INFO': [0, 1],
    'severity_text:"Error"': [2],
    'severityText:INF*': [0, 1],
    'severityText:/^Error$/': [2],
    [`severityText:"${sequence}[1mINFO${sequence}[0m"`]: [0, 1],
    'NOT severity:info': [2, 3, 4],
  };
  t.deepEqual(await findRecords(t, logs, Object.keys(found)), Object.values(found));
});

for (const [name, [body, found, missed]] of Object.entries(examples))
  test(`search finds what people read: ${name}`, async (t) => {
    const searches = [...found, ...missed];
    const results = await find(t, [body, 'unrelated'], searches);
    for (const [index, search] of searches.entries())
      t.deepEqual(results[index], index < found.length ? [0] : [], `${search} in ${JSON.stringify(body)}`);
  });

/** Words in twelve scripts. */
const words = [
  ...['payment', 'Größe', 'ΣΦΑΛΜΑ', 'Ошибка', 'ՍԽԱԼ', 'שגיאה', 'الاتصال', 'त्रुटि', 'შეცდომა'],
  ...['数据库', '连接失败', 'エラー', 'ログ', '결제', 'ชำระเงิน', 'ສະບາຍດີ', 'ស្វាគមន៍', 'İstanbul', '42'],
];
const joints = [
  ' ',
  '',
  ': ',
  '：',
  '、',
  ' — ',
  '=',
  '\n',
  `${sequence}[1m`,
  '\\u001b[0m',
  '・',
  '\u00a0',
  '。',
  '|',
  '🎉',
];
const body = fc
  .array(fc.tuple(fc.constantFrom(...words), fc.constantFrom(...joints), fc.nat(2)), { minLength: 1, maxLength: 6 })
  .map((parts) =>
    parts.map(([word, joint, form]) => `${[word, word.toUpperCase(), word.toLowerCase()][form]}${joint}`).join(''),
  );
const escaped = (text: string): string => text.replace(/[\\"*:()[\]{}<>/]/g, '\\$&');
const search = fc
  .tuple(fc.constantFrom(...words), fc.constantFrom(...joints), fc.constantFrom(...words), fc.nat(6))
  .map(([one, joint, other, form]) => {
    const both = `${one}${joint}${other}`;
    return [
      one,
      one.toUpperCase(),
      `"${both.replace(/[\\"]/g, '\\$&')}"`,
      escaped(both.replace(/\s/gu, '')),
      `${one.slice(0, 2)}*`,
      `*${escaped(joint.replace(/\s/gu, ''))}${other}*`,
      `${one.slice(0, 1)}*${other.slice(-1)}`,
    ][form] as string;
  });

test('SQL and the predicate agree over words of twelve scripts, and each written word is found', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(body, { minLength: 10, maxLength: 10 }),
      fc.array(search, { minLength: 30, maxLength: 30 }),
      async (bodies, searches) => {
        await find(t, bodies, searches);
        const spaced = words.map((word) => `${word.toUpperCase()} ${sequence}[32m${word}${sequence}[0m.`);
        const results = await find(t, spaced, words);
        for (const [index, word] of words.entries()) t.true(results[index]?.includes(index), word);
      },
    ),
    { numRuns: propertyRuns(8), endOnFailure: true },
  );
});
