/**
 * Pairs of records: of one error, or of two different errors. Stacks of many languages and runtimes go through many
 * carriers, where the text of the log is the same; messages have no stack.
 */

import { formatPairs } from './formats.ts';
import { runtimePairs } from './runtimes.ts';
import type { ErrorPair, Sent } from './sent.ts';

/** An exception, as a program prints it */
export interface Failure {
  readonly type: string;
  readonly message: string;
  readonly stack: string;
}

/** Writes the stack of the function `call`; `at` changes lines, addresses and other parts that differ between runs. */
type WriteStack = (call: string, at: number) => Failure;

const capital = (word: string): string => word[0]?.toUpperCase() + word.slice(1);
const hex = (at: number): string => (0x7f3a_51c0 + at * 7919).toString(16);

const java =
  (frames: (call: string, at: number) => string, type = 'java.lang.IllegalStateException'): WriteStack =>
  (call, at) => ({
    type,
    message: `no stock of ${at}`,
    stack: `${type}: no stock of ${at}\n${frames(call, at)}\n\tat shop.Main.main(Main.java:${at})\n`,
  });

const python =
  (frames: (call: string, at: number) => string): WriteStack =>
  (call, at) => ({
    type: 'KeyError',
    message: `'sku-${at}'`,
    stack: frames(call, at),
  });

const traceback = (call: string, at: number): string =>
  `Traceback (most recent call last):\n  File "/srv/shop/orders.py", line ${at}, in ${call}\n    return stock[sku]\n           ~~~~~^^^^^\nKeyError: 'sku-${at}'\n`;

const indent = (text: string, mark: string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line) => `${mark}${line}`)
    .join('\n');

const taskGroup = (calls: readonly string[], at: number): string =>
  `  + Exception Group Traceback (most recent call last):
  |   File "/srv/shop/main.py", line ${at}, in main
  |     async with asyncio.TaskGroup() as group:
  |   File "/usr/lib/python3.12/asyncio/taskgroups.py", line 145, in __aexit__
  |     raise me from None
  | ExceptionGroup: unhandled errors in a TaskGroup (${calls.length} sub-exception${calls.length > 1 ? 's' : ''})
  +-+---------------- 1 ----------------
${calls.map((call) => indent(traceback(call, at), '    | ')).join('\n    +---------------- 2 ----------------\n')}
    +------------------------------------
`;

const box = (call: string, at: number, [corner, side]: readonly [string, string]): string => {
  const line = (text: string): string => `${side} ${text.padEnd(60)} ${side}\n`;
  const edge = corner === '+' ? '-' : '─';
  return `${corner}${edge.repeat(12)} Traceback (most recent call last) ${edge.repeat(12)}${corner}
${line(`/srv/shop/web.py:${at} in handle`)}${line('')}${line(`❱ ${at} │   ${call}(order)`)}${line('')}${line(`/srv/shop/orders.py:${at + 3} in ${call}`)}${line(`❱ ${at + 3} │   return stock[sku]`)}${corner}${edge.repeat(62)}${corner}
KeyError: 'sku-${at}'
`;
};

const notebook = (
  call: string,
  at: number,
): string => `---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
Cell In[${at}], line 1
----> 1 ${call}('sku')

Cell In[${at - 1}], line ${at}, in ${call}(sku)
      1 def ${call}(sku):
----> ${at}     return stock[sku]

KeyError: 'sku-${at}'
`;

const notebookFile = (
  call: string,
  at: number,
): string => `---------------------------------------------------------------------------
KeyError                                  Traceback (most recent call last)
<ipython-input-${at}-${hex(at)}> in <module>
----> 1 ${call}('sku')

/srv/shop/orders.py in ${call}(sku)
      ${at} def ${call}(sku):
----> ${at + 1}     return stock[sku]

KeyError: 'sku-${at}'
`;

const dotnet =
  (at: string, inside: string, line: string, end = ''): WriteStack =>
  (call, number) => ({
    type: 'System.InvalidOperationException',
    message: `no stock of ${number}`,
    stack: `System.InvalidOperationException: no stock of ${number}
   ${at} Shop.Orders.${capital(call)}(Int32 id, String sku) ${inside} /src/Orders.cs:${line} ${number}${end}
   ${at} Shop.Web.<Handle>d__${number}.MoveNext() ${inside} /src/Web.cs:${line} ${number + 1}${end}
   ${at} System.Threading.Tasks.Task.Execute()`,
  });

const plainDotnet =
  (frames: (call: string, at: number) => string): WriteStack =>
  (call, at) => ({
    type: 'System.InvalidOperationException',
    message: 'no stock',
    stack: `System.InvalidOperationException: no stock\n${frames(call, at)}`,
  });

const javaScript =
  (frames: (call: string, at: number) => string): WriteStack =>
  (call, at) => ({
    type: 'TypeError',
    message: 'no sku',
    stack: `TypeError: no sku\n${frames(call, at)}`,
  });

/** Stacks of languages, runtimes and tools */
export const stacks: Readonly<Record<string, WriteStack>> = {
  Java: java((call, at) => `\tat shop.Orders.${call}(Orders.java:${at})\n\tat shop.Web.handle(Web.java:${at + 2})`),
  'Java with a lambda of JDK 8': java(
    (call, at) =>
      `\tat shop.Orders.lambda$${call}$${at}(Orders.java:${at})\n\tat shop.Orders$$Lambda$${at}/${at * 7919}.run(Unknown Source)`,
  ),
  'Java with a lambda of JDK 14': java(
    (call, at) =>
      `\tat shop.Orders$$Lambda$${at}/0x00000008${hex(at)}.run(Unknown Source)\n\tat shop.Orders.${call}(Orders.java:${at})`,
  ),
  'Java with a lambda of JDK 21': java(
    (call, at) =>
      `\tat shop.Orders$$Lambda/0x00000008${hex(at)}.run(Unknown Source)\n\tat shop.Orders.${call}(Orders.java:${at})`,
  ),
  'Java with ByteBuddy': java(
    (call, at) =>
      `\tat shop.Orders$ByteBuddy$Q${hex(at)}.${call}(Unknown Source)\n\tat shop.Web.handle(Web.java:${at})`,
  ),
  Kotlin: java(
    (call, at) =>
      `\tat shop.OrdersKt$${call}$1.invokeSuspend(Orders.kt:${at})\n\tat kotlin.coroutines.jvm.internal.BaseContinuationImpl.resumeWith(ContinuationImpl.kt:33)`,
  ),
  Scala: java(
    (call, at) =>
      `\tat shop.Orders$.$anonfun$${call}$${at}(Orders.scala:${at})\n\tat scala.Option.map(Option.scala:230)`,
  ),
  Groovy: java(
    (call, at) =>
      `\tat Script${at}.${call}(Script${at}.groovy:${at})\n\tat shop.Orders$_${call}_closure${at}.doCall(Orders.groovy:${at})`,
  ),
  Clojure: java(
    (call, at) =>
      `\tat shop.orders$${call}$fn__${1000 + at}.invoke(orders.clj:${at})\n\tat shop.orders$handle.invokeStatic(orders.clj:9)`,
    'clojure.lang.ExceptionInfo',
  ),
  Node: javaScript(
    (call, at) =>
      `    at ${call} (/srv/shop/src/orders.js:${at}:11)\n    at async handle (/srv/shop/src/web.js:${at}:5)`,
  ),
  'Next.js chunks': javaScript(
    (call, at) =>
      `    at ${call} (/srv/.next/server/chunks/${at * 37}.js:1:${at})\n    at handle (/srv/.next/server/app/orders/page.js:2:${at})`,
  ),
  'a data URL': javaScript(
    (call, at) =>
      `    at ${call} (data:text/javascript;base64,${Buffer.from(`x${at}`.repeat(at)).toString('base64')}:1:${at})\n    at handle (/srv/shop/web.js:1:1)`,
  ),
  Firefox: (call, at) => ({
    type: 'TypeError',
    message: 'no sku',
    stack: `${call}@https://shop.example/static/app.js:${at}:5\nhandle@https://shop.example/static/app.js:${at + 9}:1\n`,
  }),
  Python: python(traceback),
  'Python 3.13 with colours': python((call, at) =>
    traceback(call, at)
      .replace(
        /File ("[^"]*"), line (\d+), in (\w+)/g,
        'File \u001b[35m$1\u001b[0m, line \u001b[35m$2\u001b[0m, in \u001b[35m$3\u001b[0m',
      )
      .replace(/^KeyError: (.*)$/m, '\u001b[1;35mKeyError\u001b[0m: \u001b[35m$1\u001b[0m'),
  ),
  'a Python task group': python((call, at) => taskGroup([call], at)),
  'a Python task group with several tasks': python((call, at) =>
    taskGroup(at % 2 === 0 ? [call, 'notify'] : ['notify', call], at),
  ),
  rich: python((call, at) => box(call, at, ['╭', '│'])),
  'rich in ASCII': python((call, at) => box(call, at, ['+', '|'])),
  'IPython 8': python(notebook),
  'IPython 7': python(notebookFile),
  Go: (call, at) => ({
    type: '*errors.errorString',
    message: 'no stock',
    stack: `goroutine ${at} [running]:\ngithub.com/acme/shop/orders.${capital(call)}(0xc000${hex(at)}, 0x${at})\n\t/src/orders/orders.go:${at} +0x1d\ngithub.com/acme/shop/web.Handle-range${at}(...)\n\t/src/web/web.go:${at} +0x2\n`,
  }),
  '.NET': dotnet('at', 'in', 'line'),
  '.NET in German': dotnet('bei', 'in', 'Zeile', '.'),
  '.NET in French': dotnet('à', 'dans', 'ligne'),
  '.NET in Spanish': dotnet('en', 'en', 'línea'),
  '.NET in Italian': dotnet('in', 'in', 'riga'),
  '.NET in Portuguese': dotnet('em', 'na', 'linha'),
  '.NET in Russian': dotnet('в', 'в', 'строка'),
  '.NET in Japanese': dotnet('場所', '場所', '行'),
  '.NET in Chinese': dotnet('在', '位置', '行号'),
  '.NET in Korean': dotnet('위치:', '파일', '줄'),
  Mono: plainDotnet(
    (call, at) =>
      `  at Shop.Orders.${capital(call)} (System.Int32 id) [0x000${at}] in <${hex(at)}${hex(at)}>:0 \n  at Shop.Web.Handle () [0x00001] in /src/Web.cs:${at}`,
  ),
  'Native AOT': plainDotnet(
    (call, at) => `   at Shop.Orders.${capital(call)}(Int32) + 0x${at}d4\n   at Shop.Web.Handle() + 0x${at}`,
  ),
  Unity: plainDotnet(
    (call, at) =>
      `Shop.Orders.${capital(call)} (System.Int32 id) (at Assets/Orders.cs:${at})\nShop.Web:Handle () (at Assets/Web.cs:${at})`,
  ),
  Ruby: (call, at) => ({
    type: 'OutOfStock',
    message: `no stock of ${at}`,
    stack: `/srv/shop/orders.rb:${at}:in \`${call}': no stock of ${at} (OutOfStock)\n\tfrom /srv/shop/web.rb:${at}:in \`block in handle'`,
  }),
  PHP: (call, at) => ({
    type: 'OutOfStock',
    message: `no stock of ${at}`,
    stack: `#0 /srv/shop/src/Web.php(${at}): Shop\\Orders->${call}('${at}')\n#1 /srv/shop/public/index.php(${at}): Shop\\Web->handle()\n#2 {main}`,
  }),
  Rust: (call, at) => ({
    type: 'panic',
    message: 'no stock',
    stack: `   0: rust_begin_unwind\n             at /rustc/90b35a623/library/std/src/panicking.rs:645:5\n   1: shop::orders::${call}::h0123456789abcde${at % 10}\n             at ./src/orders.rs:${at}:9\n   2: shop::web::handle\n             at ./src/web.rs:${at}:1`,
  }),
  'C++': (call, at) => ({
    type: 'SIGABRT',
    message: 'no stock',
    stack: `#0  0x0000${hex(at)} in raise () from /lib/libc.so.6\n#1  0x0000${hex(at)} in shop::${call}(int) /src/orders.cpp:${at}\n#2  shop::handle (id=${at}) at /src/web.cpp:${at}`,
  }),
  Dart: (call, at) => ({
    type: 'StateError',
    message: 'no stock',
    stack: `#0      Orders.${call} (package:shop/orders.dart:${at}:5)\n#1      handle (package:shop/web.dart:${at}:3)`,
  }),
  Elixir: (call, at) => ({
    type: 'RuntimeError',
    message: 'no stock',
    stack: `** (RuntimeError) no stock\n    (shop 0.1.0) lib/shop/orders.ex:${at}: Shop.Orders.${call}/2\n    (elixir 1.15.7) lib/enum.ex:${at}: Enum.map/2\n    lib/shop/web.ex:${at}: anonymous fn/1 in Shop.Web.handle/1`,
  }),
  Perl: (call, at) => ({
    type: '',
    message: 'no stock',
    stack: `no stock at /srv/shop/Orders.pm line ${at}.\n\tShop::Orders::${call}(${at}) called at /srv/shop/web.pl line ${at}\n\tmain::handle() called at /srv/shop/web.pl line 3`,
  }),
  Lua: (call, at) => ({
    type: '',
    message: 'no stock',
    stack: `/srv/shop/orders.lua:${at}: no stock\nstack traceback:\n\t[C]: in function 'error'\n\t/srv/shop/orders.lua:${at}: in function '${call}'\n\t/srv/shop/web.lua:${at}: in main chunk`,
  }),
};

const json = (value: unknown): Sent => ({ body: JSON.stringify(value) });
const prefixLines = (text: string, prefix: (line: number) => string): string =>
  text
    .trimEnd()
    .split('\n')
    .map((line, at) => `${prefix(at)}${line}`)
    .join('\n');

/** Where a record contains a stack; its other text is always the same. */
export const carriers: Readonly<Record<string, (failure: Failure) => Sent>> = {
  'exception attributes': ({ type, message, stack }) => ({
    body: 'request failed',
    attributes: { 'exception.type': type, 'exception.message': message, 'exception.stacktrace': stack },
  }),
  'a span event': ({ type, message, stack }) => ({
    event: { 'exception.type': type, 'exception.message': message, 'exception.stacktrace': stack },
  }),
  'the message of an exception': ({ type, stack }) => ({
    body: 'request failed',
    attributes: { 'exception.type': type || 'Error', 'exception.message': `request failed\n${stack}` },
  }),
  'the message of a span event': ({ type, stack }) => ({
    event: { 'exception.type': type || 'Error', 'exception.message': `request failed\n${stack}` },
  }),
  'a text': ({ stack }) => ({ body: `request failed\n${stack}` }),
  'a JSON body of logback': ({ stack }) => json({ level: 'ERROR', message: 'request failed', stack_trace: stack }),
  'a JSON body of pino': ({ type, message, stack }) =>
    json({ level: 50, msg: 'request failed', err: { type, message, stack } }),
  'a JSON body of structlog': ({ stack }) => json({ event: 'request failed', level: 'error', exception: stack }),
  'a JSON body of zap': ({ message, stack }) =>
    json({ L: 'ERROR', msg: 'request failed', error: message, stacktrace: stack }),
  'a JSON body of Serilog': ({ stack }) =>
    json({ '@t': '2026-01-01T00:00:00Z', '@m': 'request failed', '@l': 'Error', '@x': stack }),
  'a JSON body of ECS': ({ type, message, stack }) =>
    json({ message: 'request failed', error: { type, message, stack_trace: stack }, 'log.level': 'error' }),
  'a JSON body with a list of lines': ({ stack }) => json({ message: 'request failed', stack: stack.split('\n') }),
  'a map': ({ type, stack }) => ({ body: { message: 'request failed', error: { type, stack } } }),
  'the attribute stack_trace': ({ stack }) => ({ body: 'request failed', attributes: { stack_trace: stack } }),
  'the attribute error.stack': ({ type, stack }) => ({
    body: 'request failed',
    attributes: { 'error.type': type, 'error.stack': stack },
  }),
  'the attribute exception': ({ stack }) => ({ body: 'request failed', attributes: { exception: stack } }),
  'an attribute with a map': ({ type, message, stack }) => ({
    body: 'request failed',
    attributes: { err: { type, message, stack } },
  }),
  'a text with escaped line breaks': ({ stack }) => ({
    body: `request failed: ${JSON.stringify(stack).slice(1, -1)}`,
  }),
  'lines of a container runtime': ({ stack }) => ({
    body: prefixLines(`request failed\n${stack}`, (line) => `2026-01-01T00:00:0${line % 10}.123456789Z stderr F `),
  }),
  'lines of docker compose': ({ stack }) => ({ body: prefixLines(`request failed\n${stack}`, () => 'shop-1  | ') }),
  'lines of syslog': ({ stack }) => ({
    body: prefixLines(`request failed\n${stack}`, (line) => `Jan  1 00:00:0${line % 10} host shop[${line + 7}]: `),
  }),
  'coloured lines': ({ stack }) => ({
    body: `\u001b[31mERROR\u001b[0m request failed\n${prefixLines(stack, () => '\u001b[38;5;196m')}\u001b[0m`,
  }),
};

const stackPairs = Object.entries(stacks).flatMap(([language, write]) =>
  Object.entries(carriers).flatMap(([carrier, send]): ErrorPair[] => {
    const first = send(write('reserve', 12));
    return [
      { title: `${language} in ${carrier}: one error`, isSame: true, records: [first, send(write('reserve', 35))] },
      { title: `${language} in ${carrier}: two errors`, isSame: false, records: [first, send(write('charge', 12))] },
    ];
  }),
);

/** Texts of one error in a line; lines are different errors. */
const messages: readonly (readonly string[])[] = [
  ['订单12345支付失败', '订单7支付失败'],
  ['库存98765不足', '库存1不足'],
  ['错误代码：500，数据库连接失败', '错误代码：502，数据库连接失败'],
  ['用户“张三”登录失败', '用户“李四”登录失败'],
  ['エラー500が発生しました', 'エラー12が発生しました'],
  ['在庫7番の予約に失敗しました', '在庫123番の予約に失敗しました'],
  ['주문123결제실패', '주문4결제실패'],
  ['재고456부족', '재고7부족'],
  ['คำสั่งซื้อ123ล้มเหลว', 'คำสั่งซื้อ4ล้มเหลว'],
  ['สต็อก9หมด', 'สต็อก10หมด'],
  ['Bestellung4711fehlgeschlagen', 'Bestellung12fehlgeschlagen'],
  ['Überweisung4711abgelehnt', 'Überweisung9abgelehnt'],
  ['заказ42отклонён', 'заказ7отклонён'],
  ['فشل الطلب ١٢٣', 'فشل الطلب ٤'],
  ['ऑर्डर १२३ विफल', 'ऑर्डर ४ विफल'],
  ['παραγγελία17απέτυχε', 'παραγγελία8απέτυχε'],
  ['✅build42ok', '✅build7ok'],
  ['❌deploy42failed', '❌deploy7failed'],
  ['OrderFailed500', 'OrderFailed7'],
  ['StockMissing42', 'StockMissing7'],
  ['stock_456_missing', 'stock_7_missing'],
  ['order-123-failed', 'order-9-failed'],
  ['E1001', 'E1002'],
  ['payments-v2 unreachable', 'payments-v3 unreachable'],
  ['orders-v2 unreachable', 'orders-v3 unreachable'],
  ['s3 request denied'],
  ['oauth2 request denied'],
  ['k8s request denied'],
  ['ipv6 request denied'],
  ['ec2 request denied'],
  ['cannot decode utf8mb4'],
  ['cannot decode base64'],
  ['no image for x86_64'],
  ['no image for arm64'],
  ['HTTP 404'],
  ['HTTP 500'],
  ['Request failed with status code 404'],
  ['Request failed with status code 503'],
  ['"disk full"'],
  ['"db down"'],
  ['order 17 of ann@example.com timed out after 30 s', 'order 9 of bob@example.org timed out after 1.5 s'],
  ['refund 17 of ann@example.com timed out after 30 s', 'refund 9 of bob@example.org timed out after 1.5 s'],
  ['cannot read /srv/a/17.txt', 'cannot read /srv/b/x.txt'],
  ['session 9f86d081-884c-7d65-9a2f-eaa0c55ad015 lost', 'session 0b1c0564-fe1a-409b-b8cc-1e88b294cd1d lost'],
  ['upload x8Kq9f3L2a lost', 'upload q7Zr2m9Xw4 lost'],
  ['{"@m":"order 5 failed: card declined","@l":"Error"}', '{"@m":"order 6 failed: card declined","@l":"Error"}'],
  ['{"@m":"stock service unreachable","@l":"Error"}'],
  ['{"Message":"disk full"}', '{"Message":"disk full","Level":"Error"}'],
  ['{"MESSAGE":"mail refused"}'],
  ['{"error":{"message":"db down"}}', '{"error":{"message":"db down","code":7}}'],
  ['{"err":{"message":"cache down"}}'],
  ['{"short_message":"queue 7 full","version":"1.1"}', '{"short_message":"queue 8 full","version":"1.1"}'],
  ['{"RenderedMessage":"certificate expired"}'],
  [
    '{"level":"error","info":"tax service of region 7 gone"}',
    '{"level":"error","info":"tax service of region 8 gone"}',
  ],
  ['{"level":"error","info":"rate limit reached"}'],
  ['{"msg":"request failed","error":"connection refused"}', '{"error":"connection refused","msg":"request failed"}'],
  ['{"msg":"request failed","error":"no such host"}'],
  ['level=error code=7 detail="disk full"', 'level=error code=8 detail="disk full"'],
  ['level=error code=7 detail="db is down"'],
  ['level=error msg="request failed" err="connection refused"'],
  ['level=error msg="request failed" err="no such host"'],
];

const messagePairs = messages.flatMap(([first = '', again], at): ErrorPair[] => {
  const [next = ''] = messages[(at + 1) % messages.length] ?? [];
  return [
    { title: `${first}: another error than ${next}`, isSame: false, records: [{ body: first }, { body: next }] },
    ...(again === undefined
      ? []
      : [{ title: `${first}: one error`, isSame: true, records: [{ body: first }, { body: again }] as const }]),
  ];
});

/** The same text from two services, which share nothing else */
const servicePairs = ['E1001', 'HTTP 404', 'request denied', '订单12支付失败', '{"Message":"disk full"}', '17'].map(
  (body): ErrorPair => ({
    title: `${body} of two services: two errors`,
    isSame: false,
    records: [
      { body, service: 'cart' },
      { body, service: 'mail' },
    ],
  }),
);

/** Texts of one .NET error, in English and other languages */
const dotnetPairs = Object.entries(stacks).flatMap(([language, write]): ErrorPair[] =>
  language.startsWith('.NET in')
    ? [
        {
          title: `${language} and in English: one error`,
          isSame: true,
          records: [
            { body: `request failed\n${write('reserve', 12).stack}` },
            { body: `request failed\n${(stacks['.NET'] as WriteStack)('reserve', 30).stack}` },
          ],
        },
      ]
    : [],
);

export const errorPairs: readonly ErrorPair[] = [
  ...formatPairs,
  ...runtimePairs,
  ...stackPairs,
  ...messagePairs,
  ...servicePairs,
  ...dotnetPairs,
];
