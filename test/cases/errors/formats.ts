/** Pairs of records in the formats of many loggers, runtimes and tools */
import type { ErrorPair, Sent } from './sent.ts';

export const formatPairs: ErrorPair[] = [];

/** Adds pairs of the first record with each of the others. */
const add = (title: string, isSame: boolean, ...sent: readonly (string | Sent)[]): void => {
  const [first = {}, ...others] = sent.map((each): Sent => (typeof each === 'string' ? { body: each } : each));
  for (const [at, other] of others.entries())
    formatPairs.push({
      title: `${title}: ${isSame ? 'one error' : 'two errors'} (${at + 1})`,
      isSame,
      records: [first, other],
    });
};

const two = ['reserve', 'charge'];
const swift = (f: string, n: number): string =>
  `Fatal error: Unexpectedly found nil\n0   Shop                0x0000000104a${n}c $s4Shop6OrdersC${f}yySiF + ${n}\n1   Shop                0x0000000104b${n}c main + 12`;
add('swift', false, swift('7reserve', 123), swift('6charge', 123));
add(
  'erlang',
  false,
  `** Reason for termination ==\n** {badarith,[{shop_orders,reserve,2,[{file,"src/shop_orders.erl"},{line,12}]},\n {shop_web,handle,1,[{file,"src/shop_web.erl"},{line,4}]}]}`,
  `** Reason for termination ==\n** {badarith,[{shop_orders,charge,2,[{file,"src/shop_orders.erl"},{line,12}]},\n {shop_web,handle,1,[{file,"src/shop_web.erl"},{line,4}]}]}`,
);
add(
  'haskell',
  false,
  `shop: no stock\nCallStack (from HasCallStack):\n  error, called at src/Orders.hs:12:5 in main:Orders\n  reserve, called at src/Web.hs:3:1 in main:Web`,
  `shop: no stock\nCallStack (from HasCallStack):\n  error, called at src/Orders.hs:19:5 in main:Orders\n  charge, called at src/Web.hs:3:1 in main:Web`,
);
add(
  'julia',
  false,
  `ERROR: LoadError: no stock\nStacktrace:\n [1] error(s::String)\n   @ Base ./error.jl:35\n [2] reserve(id::Int64)\n   @ Main /srv/shop.jl:3`,
  `ERROR: LoadError: no stock\nStacktrace:\n [1] error(s::String)\n   @ Base ./error.jl:35\n [2] charge(id::Int64)\n   @ Main /srv/shop.jl:9`,
);
add(
  'R',
  false,
  `Error in reserve(1) : no stock\nCalls: handle -> reserve`,
  `Error in charge(1) : no stock\nCalls: handle -> charge`,
);
add(
  'ocaml',
  false,
  `Fatal error: exception Failure("no stock")\nRaised at Shop.reserve in file "shop.ml", line 12, characters 3-9\nCalled from Shop.handle in file "shop.ml", line 22, characters 3-9`,
  `Fatal error: exception Failure("no stock")\nRaised at Shop.charge in file "shop.ml", line 12, characters 3-9\nCalled from Shop.handle in file "shop.ml", line 22, characters 3-9`,
);
add(
  'go panic body',
  true,
  'panic: no stock of 5\n\ngoroutine 7 [running]:\nshop/orders.Reserve(0x1)\n\t/src/orders.go:12 +0x1d\nmain.main()\n\t/src/main.go:3 +0x1',
  'panic: no stock of 9\n\ngoroutine 1 [running]:\nshop/orders.Reserve(0x2)\n\t/src/orders.go:15 +0x1d\nmain.main()\n\t/src/main.go:4 +0x1',
);
add(
  'pkg/errors verbose',
  false,
  {
    body: {
      msg: 'request failed',
      error: 'no stock',
      errorVerbose:
        'no stock\ngithub.com/acme/shop.Reserve\n\t/src/orders.go:12\nmain.main\n\t/src/main.go:5\nruntime.main\n\t/usr/local/go/src/runtime/proc.go:250',
    },
  },
  {
    body: {
      msg: 'request failed',
      error: 'no stock',
      errorVerbose:
        'no stock\ngithub.com/acme/shop.Charge\n\t/src/orders.go:12\nmain.main\n\t/src/main.go:5\nruntime.main\n\t/usr/local/go/src/runtime/proc.go:250',
    },
  },
);
add(
  'log4j2 thrown',
  false,
  ...two.map((f) =>
    JSON.stringify({
      level: 'ERROR',
      message: 'request failed',
      thrown: {
        commonElementCount: 0,
        name: 'java.lang.IllegalStateException',
        message: 'x',
        extendedStackTrace: [
          { class: 'shop.Orders', method: f, file: 'Orders.java', line: 7 },
          { class: 'shop.Main', method: 'main', file: 'Main.java', line: 5 },
        ],
      },
    }),
  ),
);
add(
  'rust panic body',
  false,
  ...two.map(
    (f) =>
      `thread 'main' panicked at src/orders.rs:12:9:\nno stock\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/9/library/std/src/panicking.rs:645:5\n   1: shop::orders::${f}\n             at ./src/orders.rs:12:9\n   2: shop::main\n             at ./src/main.rs:2:5`,
  ),
);
add(
  'python logger exc',
  true,
  ...[12, 40].map(
    (l) =>
      `2026-01-01 10:00:0${l % 10},123 ERROR [shop] request failed\nTraceback (most recent call last):\n  File "/srv/shop/web.py", line ${l}, in handle\n    x()\n  File "/srv/shop/orders.py", line ${l}, in reserve\n    y()\nshop.NoStock: sku ${l}`,
  ),
);
add(
  'ruby 3.4 body',
  false,
  ...two.map(
    (f) =>
      `request failed\n/srv/shop/orders.rb:12:in 'Shop::Orders#${f}': no stock (Shop::OutOfStock)\n\tfrom /srv/shop/web.rb:3:in 'Shop::Web#handle'`,
  ),
);
add(
  'rails',
  false,
  ...two.map(
    (f) =>
      `Shop::OutOfStock (no stock of 5):\n  \napp/models/order.rb:12:in \`${f}'\napp/controllers/orders_controller.rb:4:in \`create'`,
  ),
);
add(
  'monolog line',
  false,
  ...two.map(
    (f) =>
      `[2026-01-01T00:00:00.000000+00:00] app.ERROR: no stock {"exception":"[object] (RuntimeException(code: 0): no stock at /srv/app/Orders.php:12)\n[stacktrace]\n#0 /srv/app/Web.php(4): App\\\\Orders->${f}(1)\n#1 {main}\n"} []`,
  ),
);
add(
  'csharp serilog Exception json',
  false,
  ...['Reserve', 'Charge'].map((f) =>
    JSON.stringify({
      Timestamp: '2026',
      Level: 'Error',
      MessageTemplate: 'request failed',
      Exception: `System.InvalidOperationException: no stock\r\n   at Shop.Orders.${f}(Int32 id) in C:\\src\\Orders.cs:line 12\r\n   at Shop.Program.<Main>$(String[] args) in C:\\src\\Program.cs:line 3`,
    }),
  ),
);
add(
  'js Error cause',
  false,
  ...two.map(
    (f) =>
      `Error: request failed\n    at handle (/srv/web.js:3:1) {\n  [cause]: Error: no stock\n      at ${f} (/srv/orders.js:12:3)\n      at handle (/srv/web.js:2:1)\n}`,
  ),
);
add(
  'js AggregateError',
  false,
  ...two.map(
    (f) =>
      `AggregateError: All promises were rejected\n    at handle (/srv/web.js:3:1) {\n  [errors]: [\n    Error: no stock\n        at ${f} (/srv/orders.js:12:3)\n  ]\n}`,
  ),
);
add(
  'hermes/react native',
  false,
  ...two.map(
    (f) =>
      `TypeError: no sku\n    at ${f} (address at index.android.bundle:1:123456)\n    at handle (address at index.android.bundle:1:123999)`,
  ),
);
add(
  'elixir GenServer',
  false,
  ...two.map(
    (f) =>
      `GenServer Shop.Worker terminating\n** (RuntimeError) no stock\n    (shop 0.1.0) lib/shop/orders.ex:12: Shop.Orders.${f}/2\n    (stdlib 5.0) gen_server.erl:1077: :gen_server.try_handle_call/4\nLast message: {:x, 1}`,
  ),
);
add(
  'dart body',
  false,
  ...two.map(
    (f) =>
      `Unhandled exception:\nBad state: no stock\n#0      Orders.${f} (package:shop/orders.dart:12:5)\n#1      main (package:shop/main.dart:3:3)`,
  ),
);
add(
  'android',
  false,
  ...two.map(
    (f) =>
      `FATAL EXCEPTION: main\nProcess: shop, PID: 123\njava.lang.RuntimeException: Unable to start\n\tat android.app.ActivityThread.x(ActivityThread.java:1)\nCaused by: shop.NoStock: x\n\tat shop.Orders.${f}(Orders.kt:12)\n\t... 10 more`,
  ),
);
add(
  'cpp sanitizer',
  false,
  ...two.map(
    (f) =>
      `==123==ERROR: AddressSanitizer: heap-use-after-free on address 0x602000000010\nREAD of size 4 at 0x602000000010 thread T0\n    #0 0x55c0 in shop::${f}(int) /src/orders.cpp:12:3\n    #1 0x55d0 in main /src/main.cpp:3`,
  ),
);
add(
  'java one line json escaped twice',
  false,
  ...two.map((f) =>
    JSON.stringify({
      log: JSON.stringify({
        message: 'request failed',
        stack_trace: `java.lang.X: y\n\tat shop.Orders.${f}(Orders.java:1)\n\tat shop.Main.main(Main.java:2)`,
      }),
      stream: 'stderr',
      time: '2026-01-01T00:00:00Z',
    }),
  ),
);
add(
  'logfmt stack',
  false,
  ...two.map(
    (f) =>
      `level=error msg="request failed" stacktrace="shop/orders.${f}\\n\\t/src/orders.go:12\\nmain.main\\n\\t/src/main.go:5"`,
  ),
);
add(
  'structlog list of dict',
  false,
  ...two.map((f) =>
    JSON.stringify({
      event: 'request failed',
      level: 'error',
      exception: [
        {
          exc_type: 'KeyError',
          exc_value: "'x'",
          frames: [
            { filename: '/srv/web.py', lineno: 3, name: 'handle' },
            { filename: '/srv/orders.py', lineno: 12, name: f },
          ],
        },
      ],
    }),
  ),
);
add(
  'sentry-like frames',
  false,
  ...two.map((f) =>
    JSON.stringify({
      message: 'request failed',
      error: {
        type: 'TypeError',
        stacktrace: [
          { function: f, file: '/srv/orders.js', line: 12 },
          { function: 'handle', file: '/srv/web.js', line: 3 },
        ],
      },
    }),
  ),
);
add(
  'gcp jsonPayload',
  false,
  ...two.map((f) => ({
    body: {
      severity: 'ERROR',
      message: `Error: no stock\n    at ${f} (/srv/orders.js:1:2)\n    at handle (/srv/web.js:3:1)`,
    },
  })),
);
add(
  'attr exception.message+type w/ body stack',
  false,
  ...two.map((f) => ({
    body: `x\njava.lang.X: y\n\tat shop.Orders.${f}(Orders.java:1)\n\tat shop.Main.main(Main.java:2)`,
    attributes: { 'exception.type': 'java.lang.X', 'exception.message': 'y' },
  })),
);

add(
  'klog',
  true,
  'E0101 10:00:00.123456       1 reflector.go:138] failed to list pods: timeout after 5s',
  'E0212 11:10:00.654321    4321 reflector.go:140] failed to list pods: timeout after 7s',
);
add(
  'klog',
  false,
  'E0101 10:00:00.123456       1 reflector.go:138] failed to list pods: timeout',
  'E0101 10:00:00.123456       1 reflector.go:138] failed to watch nodes: timeout',
);
add(
  'log4j prefix',
  true,
  '2026-01-01 10:00:00,123 ERROR [http-nio-8080-exec-5] shop.Orders - no stock of 5',
  '2026-01-02 11:00:00,456 ERROR [http-nio-8080-exec-17] shop.Orders - no stock of 9',
);
add(
  'log4j prefix w/ stack',
  true,
  ...[5, 9].map(
    (i) =>
      `2026-01-0${i} 10:00:00,123 ERROR [http-nio-8080-exec-${i}] shop.Orders - no stock of ${i}\njava.lang.IllegalStateException: no stock of ${i}\n\tat shop.Orders.reserve(Orders.java:${i})\n\tat java.base/java.lang.Thread.run(Thread.java:833)`,
  ),
);
add(
  'gelf full_message',
  false,
  ...two.map((f) =>
    JSON.stringify({
      version: '1.1',
      host: 'h',
      short_message: 'request failed',
      full_message: `java.lang.X: y\n\tat shop.Orders.${f}(Orders.java:1)\n\tat shop.Main.main(Main.java:2)`,
      level: 3,
    }),
  ),
);
add(
  'bunyan',
  false,
  ...two.map((f) =>
    JSON.stringify({
      name: 'shop',
      hostname: 'h',
      pid: 1,
      level: 50,
      err: {
        message: 'x',
        name: 'TypeError',
        stack: `TypeError: x\n    at ${f} (/srv/o.js:1:2)\n    at h (/srv/w.js:1:1)`,
      },
      msg: 'request failed',
      time: 't',
      v: 0,
    }),
  ),
);
add(
  'winston',
  false,
  ...two.map((f) =>
    JSON.stringify({
      level: 'error',
      message: 'request failed',
      stack: `TypeError: x\n    at ${f} (/srv/o.js:1:2)\n    at h (/srv/w.js:1:1)`,
    }),
  ),
);
add(
  'python-json-logger exc_info',
  false,
  ...two.map((f) =>
    JSON.stringify({
      message: 'request failed',
      exc_info: `Traceback (most recent call last):\n  File "/srv/o.py", line 3, in ${f}\n    x()\nKeyError: 'x'`,
    }),
  ),
);
add(
  'loguru json',
  false,
  ...two.map((f) =>
    JSON.stringify({
      text: `2026 | ERROR | request failed\nTraceback (most recent call last):\n\n  File "/srv/o.py", line 3, in ${f}\n    x()\n    └ <function x at 0x7f>\n\nKeyError: 'x'\n`,
      record: { message: 'request failed', exception: { type: 'KeyError', value: 'x', traceback: true } },
    }),
  ),
);
add(
  'loguru json',
  true,
  ...[1, 2].map((f) =>
    JSON.stringify({
      text: `2026 | ERROR | request failed\nTraceback (most recent call last):\n\n> File "/srv/o.py", line ${f}, in reserve\n    x()\n    └ <function x at 0x7f${f}>\n\nKeyError: 'x${f}'\n`,
      record: { message: 'request failed', exception: { type: 'KeyError', value: 'x', traceback: true } },
    }),
  ),
);
add(
  'nlog',
  false,
  ...two.map((f) =>
    JSON.stringify({
      time: 't',
      level: 'ERROR',
      message: 'request failed',
      exception: {
        Type: 'Shop.NoStock',
        Message: 'x',
        StackTrace: `   at Shop.Orders.${f}() in /a.cs:line 1\n   at Shop.Main() in /a.cs:line 1`,
      },
    }),
  ),
);
add(
  'logrus',
  false,
  ...two.map((f) => `time="2026-01-01T00:00:00Z" level=error msg="request failed" error="${f} refused"`),
);
add(
  'logrus',
  true,
  ...[1, 2].map(
    (f) =>
      `time="2026-01-01T00:00:0${f}Z" level=error msg="request ${f} failed" error="dial tcp 10.0.0.${f}:80: refused"`,
  ),
);
add(
  'zerolog',
  false,
  ...two.map((f) =>
    JSON.stringify({
      level: 'error',
      stack: [
        { func: f, line: '12', source: 'orders.go' },
        { func: 'main', line: '3', source: 'main.go' },
      ],
      error: 'no stock',
      message: 'request failed',
    }),
  ),
);
add(
  'slog text',
  false,
  ...two.map((f) => `time=2026-01-01T00:00:00.000Z level=ERROR msg="request failed" err="cannot ${f}: eof"`),
);
add(
  'rust tracing json',
  false,
  ...two.map((f) =>
    JSON.stringify({
      timestamp: 't',
      level: 'ERROR',
      fields: { message: 'request failed', error: `cannot ${f}` },
      target: 'shop::orders',
    }),
  ),
);
add(
  'rust tracing json',
  true,
  ...[1, 2].map((f) =>
    JSON.stringify({
      timestamp: `t${f}`,
      level: 'ERROR',
      fields: { message: `request ${f} failed`, error: `cannot reserve ${f}` },
      target: 'shop::orders',
    }),
  ),
);
add(
  'anyhow chain',
  false,
  ...two.map(
    (f) =>
      `Error: request failed\n\nCaused by:\n    0: cannot ${f}\n    1: connection refused\n\nStack backtrace:\n   0: shop::${f}\n             at ./src/o.rs:1:2\n   1: shop::main\n             at ./src/main.rs:1:1`,
  ),
);
add(
  'java nested cause same outer',
  false,
  ...two.map(
    (f) =>
      `x.Outer: o\n\tat x.A.a(A.java:1)\nCaused by: x.Inner: i\n\tat x.B.${f}(B.java:1)\n\t... 3 common frames omitted`,
  ),
);
add(
  'jdk14 w/ module + loader',
  true,
  `x.E: m\n\tat app//shop.Orders.reserve(Orders.java:1)\n\tat java.base/java.lang.Thread.run(Thread.java:1)`,
  `x.E: m\n\tat shop.jar/shop.Orders.reserve(Orders.java:9)\n\tat java.base@21/java.lang.Thread.run(Thread.java:1)`,
);
add(
  'lambda forms across JDK',
  true,
  ...[
    '$$Lambda$14/0x0000000800066840',
    '$$Lambda$15/1234567',
    '$$Lambda/0x0000000801077000',
    '$$Lambda$77.0x00007f',
  ].map((l) => `x.E: m\n\tat shop.A${l}.run(Unknown Source)\n\tat shop.B.go(B.java:1)`),
);
add(
  'groovy/jenkins',
  true,
  ...[1, 9].map(
    (i) =>
      `groovy.lang.MissingPropertyException: No such property: x for class: Script${i}\n\tat Script${i}.run(Script${i}.groovy:${i})\n\tat shop.B$_run_closure${i}.doCall(B.groovy:${i})`,
  ),
);
add(
  'clojure',
  true,
  ...[1234, 999].map(
    (i) =>
      `java.lang.Exception: x\n\tat shop.core$pay$fn__${i}.invoke(core.clj:1)\n\tat shop.core$eval${i}$fn__${i + 1}.invoke(form-init${i}.clj:1)\n\tat shop.core$reify__${i}.run(core.clj:1)`,
  ),
);
add(
  'next turbopack',
  true,
  ...['0a1b2c', 'ff00e9'].map(
    (h) =>
      `Error: x\n    at f (/srv/.next/server/chunks/ssr/[root-of-the-server]__${h}._.js:1:2)\n    at g (/srv/.next/server/chunks/ssr/_${h}._.js:1:2)`,
  ),
);
add(
  'next static',
  true,
  ...['123-0a1b2c3d4e5f6789', '456-ff00e9aabbccdd11'].map((h) => ({
    event: {
      'exception.type': 'TypeError',
      'exception.message': 'x',
      'exception.stacktrace': `TypeError: x\n    at reserve (https://a.b/_next/static/chunks/${h}.js:1:2)`,
    },
  })),
);
add(
  'go ranges',
  true,
  ...[1, 2].map(
    (i) =>
      `panic: x\n\ngoroutine ${i} [running]:\nshop/o.run-range${i}(0x1)\n\t/src/o.go:${i} +0x1\nshop/o.run.func${i}(...)\n\t/src/o.go:${i} +0x1\nshop/o.Iter[...].Do-fm()\n\t/src/o.go:2 +0x2\n`,
  ),
);
add(
  'ipykernel',
  true,
  ...[1, 2].map(
    (i) =>
      `Traceback (most recent call last):\n  File "/tmp/ipykernel_${i}23/9${i}8.py", line 1, in <module>\n    f()\n  File "<ipython-input-${i}-abc${i}>", line 2, in f\n    g()\nKeyError: 1`,
  ),
);
add(
  'input in',
  true,
  ...[1, 2].map(
    (i) =>
      `---\nKeyError    Traceback (most recent call last)\nInput In [${i}], in <cell line: ${i}>()\n----> 1 f()\n\nInput In [${i + 3}], in f(x)\n----> 2 g()\n\nKeyError: ${i}`,
  ),
);
add(
  'group in json',
  false,
  ...two.map((f) =>
    JSON.stringify({
      message: 'x',
      exception: `  + Exception Group Traceback (most recent call last):\n  |   File "/srv/m.py", line 3, in main\n  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File "/srv/m.py", line 9, in ${f}\n    |     x()\n    | KeyError: 1\n    +------------------------------------\n`,
    }),
  ),
);
const group = (n: number, f: string): string =>
  `  + Exception Group Traceback (most recent call last):\n  |   File "/srv/m.py", line 3, in main\n  | ExceptionGroup: x (${n} sub-exceptions)\n  +-+---------------- 1 ----------------\n${Array.from({ length: n }, (_, i) => `    | Traceback (most recent call last):\n    |   File "/srv/m.py", line 9, in ${f}\n    |     x()\n    | KeyError: ${i}\n`).join('    +---------------- 2 ----------------\n')}    +------------------------------------\n`;
add('group counts', true, group(2, 'reserve'), group(5, 'reserve'));
add(
  'nested group',
  false,
  ...two.map(
    (f) =>
      `  + Exception Group Traceback (most recent call last):\n  |   File "/srv/m.py", line 3, in main\n  | ExceptionGroup: outer (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Exception Group Traceback (most recent call last):\n    |   File "/srv/m.py", line 5, in inner\n    | ExceptionGroup: inner (1 sub-exception)\n    +-+---------------- 1 ----------------\n      | Traceback (most recent call last):\n      |   File "/srv/m.py", line 9, in ${f}\n      |     x()\n      | KeyError: 1\n      +------------------------------------\n`,
  ),
);
add(
  'rich wrapped',
  false,
  ...two.map(
    (f) =>
      `╭─ Traceback (most recent call last) ─╮\n│ /srv/a/very/long/path/that/wraps/shop/orders.py:12 in │\n│ ${f}  │\n│ ❱ 12 │   x() │\n╰──────╯\nKeyError: 1`,
  ),
);
add(
  'unity',
  false,
  ...two.map(
    (f) =>
      `NullReferenceException: Object reference not set to an instance of an object\n  at Shop.Orders.${f} (System.Int32 id) [0x00012] in <8f3a>:0 \n  at Shop.Web.Handle () [0x00000] in <8f3a>:0`,
  ),
);
add(
  'mono hash',
  true,
  ...['8f3a', '77bc'].map(
    (f) =>
      `NullReferenceException: x\n  at Shop.Orders.Reserve (System.Int32 id) [0x000${f.slice(0, 2)}] in <${f}>:0 \n  at Shop.Web.Handle () [0x00000] in <${f}>:0`,
  ),
);
add('aot', true, ...['1d4', '2f'].map((f) => `System.Exception: x\n   at A.Go() + 0x${f}\n   at App.Main() + 0x${f}9`));
add(
  'zh inner',
  true,
  `System.Exception: 请求失败\n ---> System.IO.IOException: x\n   在 Shop.Orders.Reserve(Int32 id) 位置 C:\\src\\O.cs:行号 12\n   --- 内部异常堆栈跟踪的结尾 ---\n   在 Shop.Web.Handle() 位置 C:\\src\\W.cs:行号 3`,
  `System.Exception: request failed\n ---> System.IO.IOException: x\n   at Shop.Orders.Reserve(Int32 id) in C:\\src\\O.cs:line 19\n   --- End of inner exception stack trace ---\n   at Shop.Web.Handle() in C:\\src\\W.cs:line 9`,
);
add(
  'de no location',
  false,
  ...two.map((f) => `System.Exception: x\n   bei Shop.Orders.${f}(Int32 id)\n   bei Shop.Web.Handle()`),
);
add(
  'tr',
  false,
  ...two.map(
    (f) =>
      `System.Exception: x\n   konum: Shop.Orders.${f}(Int32 id) C:\\src\\O.cs içinde: satır 12\n   konum: Shop.Web.Handle()`,
  ),
);
add(
  'pl',
  true,
  ...[1, 2].map(
    (i) =>
      `System.Exception: x\n   w Shop.Orders.Reserve(Int32 id) w C:\\src\\O.cs:wiersz ${i}\n   w Shop.Web.Handle() w C:\\src\\O.cs:wiersz ${i}`,
  ),
);
add(
  'json crlf',
  false,
  ...two.map(
    (f) =>
      `request failed\\r\\njava.lang.X: y\\r\\n\\tat shop.Orders.${f}(Orders.java:1)\\r\\n\\tat shop.Main.main(Main.java:2)`,
  ),
);
add(
  'cri partial',
  true,
  ...[1, 2].map(
    (i) =>
      `2026-01-01T00:00:0${i}.123456789Z stderr F java.lang.X: y\n2026-01-01T00:00:0${i}.123456789Z stderr P \tat shop.Orders.\n2026-01-01T00:00:0${i}.123456789Z stderr F reserve(Orders.java:${i})\n2026-01-01T00:00:0${i}.123456789Z stderr F \tat shop.Main.main(Main.java:2)`,
  ),
);
add(
  'php monolog json',
  false,
  ...two.map((f) =>
    JSON.stringify({
      message: 'request failed',
      context: {
        exception: {
          class: 'App\\NoStock',
          message: 'x',
          code: 0,
          file: '/srv/o.php:12',
          trace: [
            { file: '/srv/o.php', line: 12, function: f, class: 'App\\Orders' },
            { file: '/srv/w.php', line: 4, function: 'handle', class: 'App\\Web' },
          ],
        },
      },
    }),
  ),
);
add(
  'sql detail multi-line same',
  true,
  ...[1, 2].map(
    (i) =>
      `ERROR: duplicate key value violates unique constraint "users_${i}_key"\nDETAIL: Key (id)=(${i}) already exists.\nSTATEMENT: INSERT INTO users VALUES (${i})`,
  ),
);
add(
  'yaml multi-line same',
  true,
  ...[1, 2].map(
    (i) => `cannot load configuration\n  at line ${i}: unexpected key\n  at line ${i + 3}: unexpected value`,
  ),
);
add(
  'http dump same',
  true,
  ...[1, 2].map((i) => `request failed\nGET /a/${i} HTTP/1.1\nHost: a.example:80${i}\nX-Id: ${i}`),
);
add(
  'tsc',
  true,
  ...[1, 2].map(
    (i) =>
      `build failed\nsrc/a.ts:${i}:3 - error TS2304: Cannot find name 'x'.\nsrc/b.ts:${i}:1 - error TS2304: Cannot find name 'y'.`,
  ),
);
add(
  'urls multi same',
  true,
  ...[1, 2].map((i) => `upstream failed\nhttp://10.0.0.${i}:8080/a\nhttp://10.0.0.${i + 4}:8080/b`),
);
add(
  'hosts multi same',
  true,
  ...[1, 2].map((i) => `no broker\nkafka-${i}.example.com:9092\nkafka-${i + 1}.example.com:9092`),
);
add(
  'json array of objects',
  true,
  ...[1, 2].map((i) =>
    JSON.stringify({
      message: 'invalid order',
      items: [
        { id: i, name: 'a' },
        { id: i + 1, name: 'b' },
      ],
    }),
  ),
);
add(
  'json varying id',
  true,
  ...[1, 2].map((i) =>
    JSON.stringify({ message: `order ${i} failed`, orderId: `o-${i}`, user: { id: i }, duration: i * 1.5 }),
  ),
);
add(
  'json err code same',
  true,
  ...[1, 2].map((i) =>
    JSON.stringify({ message: `order ${i} failed`, error: { code: 'E_TIMEOUT', message: `timeout after ${i}s` } }),
  ),
);
add(
  'json err code',
  false,
  ...['E_TIMEOUT', 'E_REFUSED'].map((c) => JSON.stringify({ message: `order failed`, error: { code: c } })),
);
add(
  'java same, other cause message',
  true,
  ...[1, 2].map(
    (i) =>
      `shop.E: order ${i}\n\tat shop.A.a(A.java:${i})\nCaused by: java.net.ConnectException: Connection to 10.0.0.${i} refused\n\tat shop.B.b(B.java:${i})\n\t... ${i + 20} more`,
  ),
);
add(
  'node same, cwd differs',
  true,
  ...['/usr/src/app', '/opt/shop'].map(
    (d) =>
      `TypeError: x\n    at reserve (${d}/dist/orders.js:1:2)\n    at handle (${d}/dist/web.js:1:2)\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5)`,
  ),
);
add(
  'python venv differs',
  true,
  ...['/usr/lib/python3.11', '/opt/venv/lib/python3.12'].map(
    (d) =>
      `Traceback (most recent call last):\n  File "${d}/site-packages/flask/app.py", line 1, in wsgi\n    x()\n  File "/srv/shop/o.py", line 2, in reserve\n    y()\nKeyError: 1`,
  ),
);
add(
  'ruby gem version',
  true,
  ...['3.0.8', '3.1.2'].map(
    (v) =>
      `/srv/shop/o.rb:1:in \`reserve': x (E)\n\tfrom /usr/lib/ruby/gems/3.3.0/gems/rack-${v}/lib/rack.rb:9:in \`call'`,
  ),
);
add(
  'go version',
  true,
  ...['v1.2.3', 'v1.4.0'].map(
    (v) =>
      `panic: x\n\ngoroutine 1 [running]:\nshop/o.Reserve(0x1)\n\t/src/o.go:1 +0x1\ngithub.com/gin-gonic/gin.(*Context).Next(0xc0001)\n\t/go/pkg/mod/github.com/gin-gonic/gin@${v}/context.go:185 +0x2b\n`,
  ),
);
add(
  'dotnet async vs args',
  true,
  ...[1, 9].map(
    (i) =>
      `System.Exception: x\n   at Shop.Orders.<ReserveAsync>d__${i}.MoveNext() in C:\\a\\O.cs:line ${i}\n--- End of stack trace from previous location ---\n   at System.Runtime.CompilerServices.TaskAwaiter.ThrowForNonSuccess(Task task)`,
  ),
);
add(
  'cri prefix vs none',
  true,
  `java.lang.X: y\n\tat shop.Orders.reserve(Orders.java:1)\n\tat shop.Main.main(Main.java:2)`,
  `2026-01-01T00:00:01.123456789Z stderr F java.lang.X: y\n2026-01-01T00:00:01.123456789Z stderr F \tat shop.Orders.reserve(Orders.java:1)\n2026-01-01T00:00:01.123456789Z stderr F \tat shop.Main.main(Main.java:2)`,
);
const javaStack = (i: number): string =>
  `java.lang.X: no ${i}\n\tat shop.Orders.reserve(Orders.java:${i})\n\tat shop.Main.main(Main.java:2)`;
add(
  'one error over carriers',
  true,
  `request failed\n${javaStack(1)}`,
  {
    body: 'x',
    attributes: { 'exception.type': 'java.lang.X', 'exception.message': 'no 2', 'exception.stacktrace': javaStack(2) },
  },
  JSON.stringify({ message: 'x', stack_trace: javaStack(3) }),
  JSON.stringify({ message: 'x', err: { type: 'java.lang.X', message: 'y', stack: javaStack(3) } }),
  { body: 'y', attributes: { 'error.stack': javaStack(4) } },
  JSON.stringify(javaStack(5)).slice(1, -1),
  { event: { 'exception.type': 'java.lang.X', 'exception.stacktrace': javaStack(2) } },
);
const py = (i: number): string =>
  `Traceback (most recent call last):\n  File "/srv/o.py", line ${i}, in reserve\n    x()\nshop.NoStock: sku ${i}`;
add(
  'python over carriers',
  true,
  `request failed\n${py(1)}`,
  { body: 'x', attributes: { 'exception.type': 'NoStock', 'exception.stacktrace': py(2) } },
  JSON.stringify({ event: 'x', exception: py(3) }),
  JSON.stringify(py(5)).slice(1, -1),
);
const js = (i: number): string =>
  `TypeError: no ${i}\n    at reserve (/srv/o.js:${i}:1)\n    at handle (/srv/w.js:1:1)`;
add(
  'js over carriers',
  true,
  `request failed\n${js(1)}`,
  `request failed: ${js(2)}`,
  JSON.stringify({ msg: 'x', err: { type: 'TypeError', message: 'y', stack: js(3) } }),
  JSON.stringify({ msg: 'x', stack: js(3) }),
  { body: 'x', attributes: { 'exception.type': 'TypeError', 'exception.stacktrace': js(4) } },
  JSON.stringify({ m: 'x', error: js(6) }),
);
const go = (i: number): string =>
  `goroutine ${i} [running]:\nshop/o.Reserve(0x${i})\n\t/src/o.go:${i} +0x1\nmain.main()\n\t/src/main.go:${i} +0x1`;
add(
  'go over carriers',
  true,
  `panic: x\n\n${go(1)}`,
  JSON.stringify({
    msg: 'x',
    stacktrace: `shop/o.Reserve\n\t/src/o.go:3\nmain.main\n\t/src/main.go:4\nruntime.main\n\t/usr/local/go/src/runtime/proc.go:250`,
  }),
);
const net = (i: number): string =>
  `System.InvalidOperationException: x ${i}\n   at Shop.O.Reserve(Int32 id) in /src/O.cs:line ${i}\n   at Shop.Program.Main() in /src/P.cs:line 1`;
add(
  'dotnet over carriers',
  true,
  `request failed\n${net(1)}`,
  `fail: Shop.Web[0]\n      request failed\n      ${net(2).replace(/\n/g, '\n      ')}`,
  JSON.stringify({ '@m': 'x', '@x': net(3) }),
  JSON.stringify({ EventId: 0, LogLevel: 'Error', Message: 'x', Exception: net(4) }),
);
add(
  'unhandled .net',
  true,
  ...[1, 2].map(
    (i) =>
      `Unhandled exception. System.InvalidOperationException: x ${i}\n   at Shop.O.Reserve(Int32 id) in /src/O.cs:line ${i}`,
  ),
);
add('korean english app', false, '결제 실패: timeout', '결제 실패: 잔액 부족');
add('jp quotes', true, 'ファイル『a.txt』を開けません', 'ファイル『b.txt』を開けません');
add('zh brackets', true, '【订单】12号支付失败', '【订单】7号支付失败');
add('zh brackets', false, '【订单】支付失败', '【库存】支付失败');
add('zh colon', false, '错误：连接超时', '错误：权限不足');
add('emoji', false, '❌ 42', '🔥 42');
add('thai', false, 'การชำระเงิน 5 ล้มเหลว', 'สต็อก 5 หมด');
add('vi', true, 'Đơn hàng 15 thất bại', 'Đơn hàng 7 thất bại');
add('hebrew', true, 'הזמנה 15 נכשלה', 'הזמנה 7 נכשלה');
add('fullwidth digits', true, '订单１２３失败', '订单４失败');
add('kanji counters', true, '第12回の試行が失敗しました（残り3回）', '第3回の試行が失敗しました（残り12回）');
add('service differ, chinese', false, { body: '支付失败', service: 'a' }, { body: '支付失败', service: 'b' });
add(
  'span status',
  false,
  { event: { 'exception.type': 'E', 'exception.message': '支付失败' } },
  { event: { 'exception.type': 'E', 'exception.message': '库存不足' } },
);
