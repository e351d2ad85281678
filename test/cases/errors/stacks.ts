/** Stacks as runtimes write them: which belong to one error, and which do not. */

export interface Thrown {
  readonly type?: string;
  readonly message?: string;
  readonly stack?: string;
}

export interface StackCase {
  readonly title: string;
  /** Stacks of one group. */
  readonly same: readonly Thrown[];
  /** Each belongs to a different group. */
  readonly others: readonly Thrown[];
  /** The frames that are compared. */
  readonly frames?: readonly string[];
}

const page = 'https://shop.example/static';
const chrome = (
  file = `${page}/app.3f2a1b9c.js`,
): string => `TypeError: Cannot read properties of undefined (reading 'sku')
    at Object.priceOf (${file}:18:13)
    at Cart.total (${file}:40:16)
    at ${file}:52:7
    at Array.map (<anonymous>)
    at new Basket (${file}:61:23)
    at async render [as paint] (${file}:70:5)
    at HTMLButtonElement.<anonymous> (${file}:80:9)`;
const firefox = (file = `${page}/app.3f2a1b9c.js`): string => `priceOf@${file}:18:5
total@${file}:40:2
Basket/this.items<@${file}:52:9
Basket@${file}:61:31
async*render@${file}:70:1
@${file}:80:3
`;
const safari = (file = `${page}/app.3f2a1b9c.js`): string => `priceOf@${file}:18:22
total@${file}:40:10
@${file}:52:44
map@[native code]
Basket@${file}:61:20
render@${file}:70:12
@${file}:80:31`;
const edge = (
  file = `${page}/app.3f2a1b9c.js`,
): string => `TypeError: Unable to get property 'sku' of undefined or null reference
   at priceOf (${file}:18:7)
   at Cart.prototype.total (${file}:40:6)
   at Anonymous function (${file}:52:7)
   at Array.prototype.map (native code)
   at Basket (${file}:61:7)
   at render (${file}:70:5)
   at Anonymous function (${file}:80:8)`;

const node = ({ root = '/srv/app', line = 12, from = 'express' } = {}): string => `RangeError: stock of 17 is gone
    at reserve (${root}/src/stock.js:${line}:11)
    at async Order.place (file://${root}/src/order.js:${line + 30}:5)
    at async Promise.all (index 0)
    at ${root}/node_modules/${from}/lib/router.js:1:2
    at process.processTicksAndRejections (node:internal/process/task_queues:105:5)`;

const java = ({
  line = 40,
  lambda = 3,
  proxy = '1a2b3c4d',
  jar = '',
} = {}): string => `com.shop.OrderFailed: order ${line} failed
\tat com.shop.Orders.lambda$place$${lambda}(Orders.java:${line})${jar}
\tat java.base/java.util.Optional.map(Optional.java:260)
\tat com.shop.Orders.place(Orders.java:${line + 2})
\tat com.shop.Orders$$EnhancerBySpringCGLIB$$${proxy}.place(<generated>)
\tat java.base/jdk.internal.reflect.GeneratedMethodAccessor${lambda}.invoke(Unknown Source)
\tat com.shop.web.OrderController$1.run(OrderController.java:9)
\tat org.springframework.web.Dispatcher.go(Dispatcher.java:1)
`;
const caused = (
  cause: string,
  at = 'com.shop.Bank.charge(Bank.java:7)',
): string => `${java()}\tSuppressed: java.io.IOException: close
\t\tat com.shop.Pool.close(Pool.java:1)
\t\tCaused by: java.io.EOFException: nothing
\t\tat com.shop.Pool.read(Pool.java:1)
Caused by: ${cause}: declined
\tat ${at}
\t... 5 more
`;

const python = ({
  root = '/srv/app',
  outer = true,
  message = 'sku 17',
} = {}): string => `Traceback (most recent call last):
${outer ? `  File "${root}/shop/web.py", line 7, in handle\n    return place(order)\n           ^^^^^^^^^^^^\n` : ''}  File "${root}/shop/orders.py", line 30, in place
    items = [check(item) for item in order]
  File "${root}/shop/orders.py", line 30, in <listcomp>
    items = [check(item) for item in order]
  File "${root}/shop/orders.py", line 11, in check
    return stock.get(item)
  File "/usr/lib/python3.12/site-packages/stock/api.py", line 5, in get
    raise OutOfStock(item)
shop.errors.OutOfStock: ${message}
`;
const pythonCause = (between: string): string => `Traceback (most recent call last):
  File "/srv/app/shop/bank.py", line 3, in charge
    post()
ConnectionError: refused

${between}

${python()}`;
const direct = 'The above exception was the direct cause of the following exception:';
const handling = 'During handling of the above exception, another exception occurred:';

const go = ({
  address = '0xc000123000',
  closure = 'func1',
  routine = 18,
} = {}): string => `goroutine ${routine} [running]:
runtime/debug.Stack()
\t/usr/local/go/src/runtime/debug/stack.go:26 +0x5e
github.com/acme/shop/web.recovered.func1()
\t/src/web/recover.go:12 +0x45
panic({${address}, 0x5a})
\t/usr/local/go/src/runtime/panic.go:770 +0x132
github.com/acme/shop/cart.(*Cart).total(...)
\t/src/cart/cart.go:31
github.com/acme/shop/cart.Checkout.${closure}(${address}, {0x1, 0x2})
\t/src/cart/checkout.go:44 +0x1d
net/http.HandlerFunc.ServeHTTP(0x0?, {0x7f, ${address}}, 0x0?)
\t/usr/local/go/src/net/http/server.go:2171 +0x29
created by net/http.(*Server).Serve in goroutine 1
\t/usr/local/go/src/net/http/server.go:3285 +0x4b4

goroutine 1 [select]:
main.main()
\t/src/main.go:9 +0x1
`;

const dotnet = ({
  root = 'C:\\build',
  line = 12,
  closure = 5,
} = {}): string => `System.InvalidOperationException: order failed
 ---> System.Net.Http.HttpRequestException: refused
   at Shop.Bank.<ChargeAsync>d__${closure}.MoveNext() in ${root}\\Bank.cs:line ${line}
--- End of stack trace from previous location ---
   at System.Runtime.ExceptionServices.ExceptionDispatchInfo.Throw()
   at System.Runtime.CompilerServices.TaskAwaiter.HandleNonSuccessAndDebuggerNotification(Task task)
   at Shop.Orders.<>c__DisplayClass${closure}_0.<Place>b__0(String id, Int32 count) in ${root}\\Orders.cs:line ${line}
   --- End of inner exception stack trace ---
   at Shop.Web.Handle\`1[T](T request)
   at Microsoft.AspNetCore.Mvc.Run()`;

const ruby = ({
  quote = '`',
  levels = '',
} = {}): string => `/srv/app/models/order.rb:12:in ${quote}reserve': no stock of 17 (OutOfStock)
\tfrom /srv/app/models/order.rb:30:in ${quote}block ${levels}in ${quote === "'" ? 'Order#' : ''}place'
\tfrom <internal:kernel>:187:in ${quote}loop'
\tfrom /usr/lib/ruby/gems/3.3.0/gems/rack-3.0.8/lib/rack.rb:9:in ${quote}call'`;

const php = ({
  line = 12,
  argument = "'17'",
} = {}): string => `#0 /srv/app/src/Cart.php(${line}): Acme\\Stock->reserve(${argument})
#1 [internal function]: Acme\\Cart->{closure}(Object(Acme\\Item))
#2 /srv/app/src/Web.php(${line + 1}): Acme\\Cart->place(Array)
#3 /srv/app/vendor/slim/slim/App.php(1): Slim\\App->run()
#4 {main}`;

const rust = ({ hash = '0123456789abcdef', line = 12 } = {}): string => `   0: rust_begin_unwind
             at /rustc/90b35a623/library/std/src/panicking.rs:645:5
   1: core::panicking::panic_fmt
             at /rustc/90b35a623/library/core/src/panicking.rs:72:14
   2: shop::stock::reserve::h${hash}
             at ./src/stock.rs:${line}:9
   3: shop::order::place::{{closure}}::h${hash}
             at ./src/order.rs:${line}:5
   4: tokio::runtime::task::core::run
   5: main`;

const native = ({ address = '0x00007f12', line = 12 } = {}): string => `#0  ${address} in raise () from /lib/libc.so.6
#1  ${address} in shop::reserve(std::string const&, int) /src/stock.cpp:${line}:3
#2  shop::Order::place (this=${address}, count=2) at /src/order.cpp:${line}
#3  main () at /src/main.cpp:1`;

export const stackCases: readonly StackCase[] = [
  {
    title: 'Chrome, Firefox, Safari and Edge tell of one error',
    same: [chrome(), firefox(), safari(), edge()].map((stack) => ({
      type: 'TypeError',
      message: stack.split('\n')[0] ?? '',
      stack,
    })),
    others: [
      { type: 'RangeError', stack: chrome() },
      { type: 'TypeError', stack: chrome().replace('Object.priceOf', 'Object.rebate') },
    ],
    frames: ['app.js priceOf', 'app.js total', 'app.js Basket', 'app.js render'],
  },
  {
    title: 'a bundle has another hash and another host in each build',
    same: [
      `${page}/app.3f2a1b9c.js`,
      'https://cdn.shop.example/v2/app.77e0a1d2.js?v=3#x',
      'http://localhost:3000/app.js',
    ].map((file) => ({
      type: 'TypeError',
      stack: chrome(file),
    })),
    others: [{ type: 'TypeError', stack: chrome(`${page}/admin.3f2a1b9c.js`) }],
  },
  {
    title: 'of minified code the message tells what the stack does not',
    same: [
      {
        type: 'TypeError',
        message: 'cart 12 is gone',
        stack: `TypeError\n    at a (${page}/app.js:1:200)\n    at t.e (${page}/app.js:1:300)`,
      },
      {
        type: 'TypeError',
        message: 'cart 13 is gone',
        stack: `TypeError\n    at b (${page}/app.js:1:201)\n    at n.r (${page}/app.js:1:302)`,
      },
    ],
    others: [{ type: 'TypeError', message: 'stock is empty', stack: `TypeError\n    at a (${page}/app.js:1:200)` }],
  },
  {
    title: 'Node: lines, folders, libraries and what runs tasks do not matter',
    same: [
      node(),
      node({ root: 'C:\\app' }).replaceAll('file://C:\\app/src/', 'file:///C:/app/src/'),
      node({ line: 99, from: 'fastify' }),
    ].map((stack) => ({
      type: 'RangeError',
      stack,
    })),
    others: [{ type: 'RangeError', stack: node().replace('reserve', 'release') }],
    frames: ['src/stock.js reserve', 'src/order.js place'],
  },
  {
    title: 'Node: a stack of libraries alone is told apart by them',
    same: ['1', '2'].map((line) => ({
      type: 'Error',
      stack: `Error: x\n    at parse (/srv/app/node_modules/qs/lib/parse.js:${line}:2)`,
    })),
    others: [{ type: 'Error', stack: 'Error: x\n    at write (/srv/app/node_modules/qs/lib/write.js:1:2)' }],
  },
  {
    title: 'a function that calls itself counts once, alone or through another',
    same: [1, 2, 9, 60].map((repetitions) => ({
      type: 'RangeError',
      stack: `RangeError\n${'    at walk (/srv/app/src/tree.js:4:5)\n    at each (/srv/app/src/tree.js:9:5)\n'.repeat(repetitions)}    at start (/srv/app/src/main.js:1:1)`,
    })),
    others: [
      {
        type: 'RangeError',
        stack: 'RangeError\n    at walk (/srv/app/src/tree.js:4:5)\n    at start (/srv/app/src/main.js:1:1)',
      },
    ],
  },
  {
    title: 'Java: lines, lambdas, proxies, accessors and jars do not matter',
    same: [java(), java({ line: 77, lambda: 12, proxy: 'ffee0011' }), java({ jar: ' ~[shop-1.2.jar!/:?]' })].map(
      (stack) => ({
        type: 'com.shop.OrderFailed',
        stack,
      }),
    ),
    others: [
      { type: 'com.shop.OrderLost', stack: java() },
      { type: 'com.shop.OrderFailed', stack: java().replaceAll('Orders.', 'Refunds.') },
    ],
    frames: ['com.shop.Orders place', 'com.shop.web.OrderController run'],
  },
  {
    title: 'Java: the cause decides, and what was suppressed does not',
    same: [
      caused('com.shop.Declined'),
      caused('com.shop.Declined').replace(/\tSuppressed[\s\S]*Pool.java:1\)\n(?=Caused)/, ''),
    ].map((stack) => ({
      type: 'com.shop.OrderFailed',
      stack,
    })),
    others: [
      { type: 'com.shop.OrderFailed', stack: java() },
      { type: 'com.shop.OrderFailed', stack: caused('com.shop.Unreachable') },
      { type: 'com.shop.OrderFailed', stack: caused('com.shop.Declined', 'com.shop.Bank.refund(Bank.java:7)') },
    ],
    frames: ['com.shop.Bank charge'],
  },
  {
    title: 'Python: folders, comprehensions, and the module in the name of the type do not matter',
    same: [
      { type: 'shop.errors.OutOfStock', stack: python() },
      { type: 'OutOfStock', stack: python({ root: '/opt/shop/current', message: 'sku 18' }) },
      { type: '', stack: python().replace(/ {2}File "[^"]*", line 30, in <listcomp>\n.*\n/, '') },
    ],
    others: [{ type: 'OutOfStock', stack: python({ outer: false }) }],
    frames: ['shop/orders.py check', 'shop/orders.py place', 'shop/web.py handle'],
  },
  {
    title: 'Python: a direct cause decides; what was being handled does not',
    same: [
      { type: 'OutOfStock', stack: pythonCause(handling) },
      { type: 'OutOfStock', stack: python() },
    ],
    others: [{ type: 'OutOfStock', stack: pythonCause(direct) }],
  },
  {
    title: 'Go: addresses, goroutines, numbers of closures and the handler of the panic do not matter',
    same: [go(), go({ address: '0xc000999999', closure: 'func12.3', routine: 7 })].map((stack) => ({
      type: '*runtime.TypeAssertionError',
      stack,
    })),
    others: [{ type: '*runtime.TypeAssertionError', stack: go().replace('total', 'rebate') }],
    frames: ['github.com/acme/shop/cart (*Cart).total', 'github.com/acme/shop/cart Checkout.func'],
  },
  {
    title: '.NET: lines, folders, numbers of the compiler and awaiters do not matter, the inner exception decides',
    same: [dotnet(), dotnet({ root: 'D:\\agent\\7', line: 80, closure: 11 })].map((stack) => ({
      type: 'System.InvalidOperationException',
      stack,
    })),
    others: [
      { type: 'System.InvalidOperationException', stack: dotnet().replace('HttpRequestException', 'TimeoutException') },
      { type: 'System.InvalidOperationException', stack: dotnet().replace('<ChargeAsync>', '<RefundAsync>') },
    ],
    frames: ['Shop.Bank ChargeAsync', 'Shop.Orders Place'],
  },
  {
    title: 'Ruby: how versions quote methods, blocks and gems do not matter',
    same: [ruby(), ruby({ quote: "'" }), ruby({ levels: '(2 levels) ' })].map((stack) => ({
      type: 'OutOfStock',
      stack,
    })),
    others: [{ type: 'OutOfStock', stack: ruby().replace('reserve', 'release') }],
    frames: ['models/order.rb reserve', 'models/order.rb place'],
  },
  {
    title: 'PHP: lines, arguments and closures do not matter',
    same: [php(), php({ line: 70, argument: 'Object(Acme\\Sku)' })].map((stack) => ({ type: 'OutOfStock', stack })),
    others: [{ type: 'OutOfStock', stack: php().replace('reserve', 'release') }],
    frames: ['src/Cart.php reserve', 'src/Web.php place'],
  },
  {
    title: "PHP as OpenTelemetry's SDK writes it",
    same: [12, 80].map((line) => ({
      type: 'OutOfStock',
      stack: `OutOfStock: no stock\n at Acme.Stock.reserve(Cart.php:${line})\n at Acme.Cart.place(Web.php:3)`,
    })),
    others: [
      {
        type: 'OutOfStock',
        stack: 'OutOfStock: no stock\n at Acme.Stock.release(Cart.php:12)\n at Acme.Cart.place(Web.php:3)',
      },
    ],
  },
  {
    title: 'Rust: hashes of symbols, lines and what panics runs do not matter',
    same: [rust(), rust({ hash: 'fedcba9876543210', line: 99 })].map((stack) => ({ type: 'panic', stack })),
    others: [{ type: 'panic', stack: rust().replace('reserve', 'release') }],
    frames: ['shop::stock reserve', 'shop::order place'],
  },
  {
    title: 'C++: addresses and lines do not matter',
    same: [native(), native({ address: '0x00005581', line: 40 })].map((stack) => ({ type: 'SIGABRT', stack })),
    others: [{ type: 'SIGABRT', stack: native().replace('shop::reserve', 'shop::release') }],
    frames: ['stock.cpp shop::reserve', 'order.cpp shop::Order::place', 'main.cpp main'],
  },
  {
    title: 'Dart: lines and closures do not matter',
    same: [3, 8].map((line) => ({
      type: 'StateError',
      stack: `#0      Cart.total (package:shop/cart.dart:${line}:5)\n#1      main.<anonymous closure> (package:shop/main.dart:9:3)\n#2      _rootRun (dart:async/zone.dart:1399:13)`,
    })),
    others: [{ type: 'StateError', stack: '#0      Cart.rebate (package:shop/cart.dart:3:5)' }],
  },
  {
    title: 'without a stack the message decides, without its values',
    same: [
      { type: 'TimeoutError', message: 'order 17 of ann@example.com timed out after 30 s' },
      {
        type: 'TimeoutError',
        message: 'order 9f86d081-884c-7d65-9a2f-eaa0c55ad015 of bob@example.com timed out after 1.5 s',
      },
      {
        type: 'TimeoutError',
        message: 'order 4 of eve@example.com timed out after 4 s',
        stack: 'TimeoutError: order 4 of …',
      },
    ],
    others: [
      { type: 'TimeoutError', message: 'refund 17 of ann@example.com timed out after 30 s' },
      { type: 'Error', message: 'order 17 of ann@example.com timed out after 30 s' },
      { type: 'TimeoutError' },
    ],
  },
];
