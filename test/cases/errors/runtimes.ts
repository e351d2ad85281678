/** Pairs of records with the texts that frameworks, runtimes and tools print for an uncaught error */
import type { ErrorPair } from './sent.ts';

/** Writes the error text for the function `call`; `at` changes the parts that differ between runs. */
type WriteText = (call: string, at: number) => string;

const capital = (word: string): string => word[0]?.toUpperCase() + word.slice(1);
const hex = (at: number, length = 12): string => (at * 0x9e37_79b9).toString(16).padStart(length, '0').slice(0, length);

const texts: Readonly<Record<string, WriteText>> = {
  'Spring with causes': (call, at) =>
    `Servlet.service() for servlet [dispatcherServlet] threw exception\njava.lang.RuntimeException: request ${at} failed\n\tat shop.Web.handle(Web.java:${at})\n\t... 2 common frames omitted\nCaused by: java.lang.IllegalStateException: no stock of ${at}\n\tat shop.Orders.${call}(Orders.java:${at})\n\t... ${at} more`,
  'Java with modules and proxies': (call, at) =>
    `java.lang.IllegalStateException: no stock\n\tat app//shop.Orders$$SpringCGLIB$$${at}.${call}(<generated>)\n\tat app//shop.Orders.${call}(Orders.java:${at})\n\tat java.base/java.lang.reflect.Method.invoke(Method.java:${at})\n\tat shop.Orders$$EnhancerBySpringCGLIB$$${hex(at, 8)}.${call}(<generated>)`,
  'a Kotlin coroutine': (call, at) =>
    `Exception in thread "DefaultDispatcher-worker-${at}" java.lang.IllegalStateException: no stock\n\tat shop.OrdersKt.${call}(Orders.kt:${at})\n\tat _COROUTINE._BOUNDARY._(CoroutineDebugging.kt:46)\n\tat shop.WebKt$handle$2.invokeSuspend(Web.kt:${at})\n\tSuppressed: kotlinx.coroutines.internal.DiagnosticCoroutineContextException: [StandaloneCoroutine{Cancelling}@${hex(at, 7)}, Dispatchers.Default]`,
  'a ZIO fiber': (call, at) =>
    `timestamp=2026-01-01T00:00:00Z level=ERROR thread=#zio-fiber-${at} message="" cause="Exception in thread "zio-fiber-${at}" shop.OutOfStock: no stock of ${at}\n\tat shop.Orders.${call}(Orders.scala:${at})\n\tat shop.Web.handle(Web.scala:${at})"`,
  'Cats Effect': (call, at) =>
    `java.lang.RuntimeException: no stock\n\tat shop.Orders$.${call}$$anonfun$${at}(Orders.scala:${at})\n\tat flatMap @ shop.Orders$.${call}(Orders.scala:${at})\n\tat run$ @ shop.Main$.run(Main.scala:3)`,
  'minified Chrome': (call, at) =>
    `TypeError: Cannot read properties of undefined (reading '${call}')\n    at t.${call} (https://cdn.shop.example/assets/index-${hex(at, 8)}.js:2:${at}0)\n    at e.render (https://cdn.shop.example/assets/vendor-${hex(at + 1, 8)}.js:1:${at}17)`,
  Safari: (call, at) =>
    `TypeError: undefined is not an object\n${call}@https://shop.example/static/js/main.${hex(at, 8)}.chunk.js:1:${at}\n[native code]\nglobal code@https://shop.example/cart:${at}:3`,
  'a React component': (call, at) =>
    `The above error occurred in the <${capital(call)}> component:\n\n    at ${capital(call)} (https://shop.example/static/js/bundle.js:${at}:5)\n    at div\n    at App (https://shop.example/static/js/bundle.js:${at}:9)\n\nConsider adding an error boundary to your tree to customize error handling behavior.`,
  'Node with a cause': (call, at) =>
    `Error: request failed\n    at handle (/srv/shop/web.js:${at}:9)\n    at process.processTicksAndRejections (node:internal/process/task_queues:95:5) {\n  [cause]: Error: no stock\n      at ${call} (/srv/shop/orders.js:${at}:11)\n      at handle (/srv/shop/web.js:${at}:5) {\n    code: 'E_STOCK'\n  }\n}`,
  'an AggregateError': (call, at) =>
    `AggregateError: All promises were rejected\n    at handle (/srv/shop/web.js:3:9) {\n  [errors]: [\n    Error: no stock\n        at ${call} (/srv/shop/orders.js:${at}:11)\n        at handle (/srv/shop/web.js:${at}:5)\n  ]\n}`,
  'an uncaught error of Node': (call, at) =>
    `/srv/shop/orders.js:${at}\n  throw new Error('no stock');\n  ^\n\nError: no stock\n    at ${call} (/srv/shop/orders.js:${at}:9)\n    at Object.<anonymous> (/srv/shop/web.js:${at}:1)\n    at Module._compile (node:internal/modules/cjs/loader:1554:14)\n\nNode.js v22.1.${at}`,
  'webpack sources': (call, at) =>
    `TypeError: no sku\n    at ${call} (webpack-internal:///(rsc)/./src/orders.ts:${at}:11)\n    at handle (webpack:///src/web.ts?${hex(at, 4)}:${at}:5)`,
  Deno: (call, at) =>
    `error: Uncaught (in promise) Error: no stock\n  throw new Error("no stock");\n        ^\n    at ${call} (file:///srv/shop/orders.ts:${at}:9)\n    at async handle (file:///srv/shop/web.ts:${at}:3)`,
  Bun: (call, at) =>
    `${at - 1} | function ${call}() {\n${at} |   throw new Error("no stock");\n            ^\nerror: no stock\n      at ${call} (/srv/shop/orders.ts:${at}:9)\n      at handle (/srv/shop/web.ts:${at}:3)\n\nBun v1.1.${at} (Linux x64)`,
  'joined errors of Go': (call, at) =>
    `${call} order ${at}: timeout after ${at} ms\nnotify customer ${at}: mailbox full`,
  'a recovered panic of Go': (call, at) =>
    `panic: runtime error: index out of range [${at}] with length 3 [recovered]\n\tpanic: runtime error: index out of range [${at}] with length 3\n\ngoroutine ${at} [running]:\ntesting.tRunner.func1.2({0x${hex(at)}, 0x${hex(at)}})\n\t/usr/local/go/src/testing/testing.go:1545 +0x238\npanic({0x${hex(at)}, 0x${hex(at)}})\n\t/usr/local/go/src/runtime/panic.go:914 +0x21f\ngithub.com/acme/shop/orders.(*Book).${capital(call)}(0xc000${hex(at, 6)})\n\t/src/orders/book.go:${at} +0x1d`,
  'a panic of an HTTP server of Go': (call, at) =>
    `http: panic serving 10.0.0.${at}:5${at}1: no stock\ngoroutine ${at} [running]:\nnet/http.(*conn).serve.func1()\n\t/usr/local/go/src/net/http/server.go:1868 +0xb9\npanic({0x${hex(at)}, 0x${hex(at)}})\n\t/usr/local/go/src/runtime/panic.go:914 +0x21f\ngithub.com/acme/shop/orders.${capital(call)}({0x${hex(at)}, 0x1})\n\t/src/orders.go:${at} +0x1d\ncreated by net/http.(*Server).Serve in goroutine ${at}\n\t/usr/local/go/src/net/http/server.go:3086 +0x5cb`,
  'cockroachdb/errors': (call, at) =>
    `request failed: no stock\n(1) attached stack trace\n  -- stack trace:\n  | github.com/acme/shop/orders.${capital(call)}\n  | \t/src/orders/orders.go:${at}\n  | github.com/acme/shop/web.Handle\n  | \t/src/web/web.go:${at}\nWraps: (2) request failed\nWraps: (3) no stock\nError types: (1) *withstack.withStack (2) *errutil.withPrefix (3) *errutil.leafError`,
  'a panic of Rust': (call, at) =>
    `thread 'tokio-runtime-worker' (${at}) panicked at src/orders.rs:${at}:5:\nno stock\nstack backtrace:\n   0: __rustc::rust_begin_unwind\n             at /rustc/${hex(at)}/library/std/src/panicking.rs:697:5\n   1: core::panicking::panic_fmt\n             at /rustc/${hex(at)}/library/core/src/panicking.rs:75:14\n   2: shop::orders::${call}::{{closure}}\n             at ./src/orders.rs:${at}:5\n   3: <core::pin::Pin<P> as core::future::future::Future>::poll\n             at /rustc/${hex(at)}/library/core/src/future/future.rs:124:9\nnote: Some details are omitted, run with \`RUST_BACKTRACE=full\` for a verbose backtrace.`,
  anyhow: (call, at) =>
    `Error: cannot ${call} order ${at}\n\nCaused by:\n    0: query of order ${at} failed\n    1: connection refused (os error 111)\n\nStack backtrace:\n   0: anyhow::error::<impl core::convert::From<E> for anyhow::Error>::from\n   1: shop::orders::${call}\n             at ./src/orders.rs:${at}:9\n   2: shop::main\n             at ./src/main.rs:${at}:5`,
  'color-eyre': (call, at) =>
    `Error: \n   0: no stock\n\nLocation:\n   src/orders.rs:${at}\n\n  ━━━━━━━━━━━━━━━━ BACKTRACE ━━━━━━━━━━━━━━━━\n                                ⋮ 5 frames hidden ⋮\n   6: shop::orders::${call}::h${hex(at)}0123\n      at /srv/shop/src/orders.rs:${at}\n   7: shop::main::h${hex(at)}4567\n      at /srv/shop/src/main.rs:${at}`,
  'a GenServer of Elixir': (call, at) =>
    `GenServer #PID<0.${at}.0> terminating\n** (RuntimeError) no stock of ${at}\n    (shop 0.1.${at}) lib/shop/orders.ex:${at}: Shop.Orders.${call}/2\n    (stdlib 5.2) gen_server.erl:1095: :gen_server.try_handle_call/4\nLast message (from #PID<0.${at}.0>): {:order, ${at}}\nState: %{orders: ${at}}`,
  'a task of Elixir': (call, at) =>
    `Task #PID<0.${at}.0> started from #PID<0.${at + 1}.0> terminating\n** (Ecto.NoResultsError) expected at least one result but got none in query:\n\nfrom o0 in Shop.Order,\n  where: o0.id == ^${at}\n\n    (ecto 3.11.2) lib/ecto/repo/queryable.ex:164: Ecto.Repo.Queryable.one!/3\n    (shop 0.1.0) lib/shop/orders.ex:${at}: Shop.Orders.${call}/1\n    (elixir 1.16.1) lib/task/supervised.ex:101: Task.Supervised.invoke_mfa/2\nFunction: #Function<${at}.${at}123/0 in Shop.Web.handle/1>\n    Args: []`,
  'a crash report of Erlang': (call, at) =>
    `=CRASH REPORT==== 1-Jan-2026::00:00:${at}.123456 ===\n  crasher:\n    initial call: shop_orders:init/1\n    pid: <0.${at}.0>\n    registered_name: []\n    exception error: no match of right hand side value {error,${at}}\n      in function  shop_orders:${call}/2 (src/shop_orders.erl, line ${at})\n      in call from gen_server:try_handle_call/4 (gen_server.erl, line 1113)\n    ancestors: [shop_sup,<0.${at}.0>]\n    message_queue_len: ${at}`,
  Laravel: (call, at) =>
    `[2026-01-01 00:00:${at}] production.ERROR: no stock of ${at} {"userId":${at},"exception":"[object] (App\\\\OutOfStock(code: 0): no stock of ${at} at /var/www/app/Orders.php:${at})\n[stacktrace]\n#0 /var/www/app/Web.php(${at}): App\\\\Orders->${call}(${at})\n#1 /var/www/vendor/laravel/framework/src/Illuminate/Routing/Controller.php(54): App\\\\Web->handle()\n#2 {main}\n"}`,
  Symfony: (call, at) =>
    `[2026-01-01T00:00:${at}.123456+00:00] request.CRITICAL: Uncaught PHP Exception App\\OutOfStock: "no stock of ${at}" at Orders.php line ${at} {"exception":"[object] (App\\\\OutOfStock(code: 0): no stock of ${at} at /srv/src/Orders.php:${at})\n[stacktrace]\n#0 /srv/src/Web.php(${at}): App\\\\Orders->${call}(${at})\n#1 /srv/vendor/symfony/http-kernel/HttpKernel.php(181): App\\\\Web->handle()\n#2 {main}"} []`,
  'a fatal error of PHP': (call, at) =>
    `PHP Fatal error:  Uncaught Shop\\OutOfStock: no stock of ${at} in /srv/src/Orders.php:${at}\nStack trace:\n#0 /srv/src/Web.php(${at}): Shop\\Orders->${call}(Object(Shop\\Order), Array)\n#1 /srv/public/index.php(${at}): Shop\\Web->handle()\n#2 {main}\n  thrown in /srv/src/Orders.php on line ${at}`,
  'Ruby 3.4': (call, at) =>
    `/srv/shop/orders.rb:${at}:in 'Shop::Orders#${call}': no stock of ${at} (Shop::OutOfStock)\n\tfrom /srv/shop/web.rb:${at}:in 'block in Shop::Web#handle'\n\tfrom /srv/shop/web.rb:${at}:in 'Array#each'`,
  Rails: (call, at) =>
    `  \nActiveRecord::RecordNotFound (Couldn't find Order with 'id'=${at}):\n  \napp/models/order.rb:${at}:in \`${call}'\napp/controllers/orders_controller.rb:${at}:in \`show'`,
  'a crash of Swift': (call, at) =>
    `Fatal error: Index out of range: file Swift/ContiguousArrayBuffer.swift, line 600\n*** Signal 4: Backtracing from 0x${hex(at)}... done ***\n\nThread 0 crashed:\n\n0 0x0000${hex(at)} _assertionFailure(_:_:file:line:flags:) + 252 in libswiftCore.so\n1 [inlined] 0x0000${hex(at)} Orders.${call}(_:) + ${at} in shop at /src/Sources/Orders.swift:${at}:9\n2 0x0000${hex(at)} static Main.main() + ${at} in shop at /src/Sources/Main.swift:${at}:5`,
  Flutter: (call, at) =>
    `══╡ EXCEPTION CAUGHT BY WIDGETS LIBRARY ╞═══════════════════════════════\nThe following StateError was thrown building Cart(dirty, state: _CartState#${hex(at, 5)}):\nBad state: no stock\n\nThe relevant error-causing widget was:\n  Cart Cart:file:///srv/shop/lib/main.dart:${at}:14\n\nWhen the exception was thrown, this was the stack:\n#0      Orders.${call} (package:shop/orders.dart:${at}:5)\n#1      _CartState.build (package:shop/cart.dart:${at}:12)\n#2      StatefulElement.build (package:flutter/src/widgets/framework.dart:5592:27)\n(elided ${at} frames from class _AssertionError and dart:async)`,
  'rlang of R': (call, at) =>
    `Error in \`${call}()\`:\n! no stock of ${at}\nBacktrace:\n    ▆\n 1. ├─shop::handle(${at})\n 2. └─shop::${call}(${at})\n 3.   └─cli::cli_abort("no stock of {id}")`,
  'Lua in nginx': (call, at) =>
    `2026/01/01 00:00:00 [error] ${at}#${at}: *${at} lua entry thread aborted: runtime error: /srv/shop/orders.lua:${at}: no stock\nstack traceback:\ncoroutine 0:\n\t[C]: in function 'error'\n\t/srv/shop/orders.lua:${at}: in function '${call}'\n\t/srv/shop/web.lua:${at}: in function <web.lua:1>, client: 10.0.0.${at}, server: shop.example, request: "GET /orders/${at} HTTP/1.1"`,
  'terminate of C++': (call, at) =>
    `terminate called after throwing an instance of 'shop::${capital(call)}Error'\n  what():  no stock of ${at}\nAborted (core dumped)`,
  'std::stacktrace of C++': (call, at) =>
    `fatal: no stock of ${at}\n   0# shop::Orders::${call}(int) at /src/orders.cpp:${at}\n   1# shop::handle(shop::Request const&) at /src/web.cpp:${at}\n   2# main at /src/main.cpp:3\n   3#      at :0`,
  AddressSanitizer: (call, at) =>
    `=================================================================\n==${at}==ERROR: AddressSanitizer: heap-use-after-free on address 0x${hex(at)} at pc 0x${hex(at)} bp 0x${hex(at)} sp 0x${hex(at)}\nREAD of size ${at} at 0x${hex(at)} thread T${at}\n    #0 0x${hex(at)} in shop::${call}(int) /src/orders.cpp:${at}:5\n    #1 0x${hex(at)} in main /src/main.cpp:${at}:3\n\n0x${hex(at)} is located ${at} bytes inside of 64-byte region`,
  Django: (call, at) =>
    `Internal Server Error: /orders/${at}/\nTraceback (most recent call last):\n  File "/usr/lib/python3.12/site-packages/django/core/handlers/exception.py", line 55, in inner\n    response = get_response(request)\n  File "/srv/shop/orders.py", line ${at}, in ${call}\n    order = stock[sku]\nKeyError: 'sku-${at}'`,
  'a chained traceback of Python': (call, at) =>
    `Traceback (most recent call last):\n  File "/srv/shop/orders.py", line ${at}, in ${call}\n    return stock[sku]\nKeyError: 'sku-${at}'\n\nThe above exception was the direct cause of the following exception:\n\nTraceback (most recent call last):\n  File "/srv/shop/web.py", line ${at}, in handle\n    raise RequestFailed(${at}) from error\nshop.RequestFailed: request ${at} failed`,
  Celery: (call, at) =>
    `Task shop.tasks.${call}[${hex(at, 8)}-0b1c-4d7e-a5f0-${hex(at)}] raised unexpected: OutOfStock('no stock of ${at}')\nTraceback (most recent call last):\n  File "/usr/lib/python3.12/site-packages/celery/app/trace.py", line 453, in trace_task\n    R = retval = fun(*args, **kwargs)\n  File "/srv/shop/tasks.py", line ${at}, in ${call}\n    raise OutOfStock(f"no stock of {id}")\nshop.OutOfStock: no stock of ${at}`,
  'an AggregateException of .NET': (call, at) =>
    `System.AggregateException: One or more errors occurred. (no stock of ${at})\n ---> System.InvalidOperationException: no stock of ${at}\n   at Shop.Orders.${capital(call)}(Int32 id) in /src/Orders.cs:line ${at}\n   at Shop.Web.<>c__DisplayClass${at}_0.<Handle>b__0()\n   --- End of inner exception stack trace ---\n   at System.Threading.Tasks.Task.WaitAll(Task[] tasks)\n   at Shop.Web.Handle() in /src/Web.cs:line ${at}`,
  'the console logger of ASP.NET': (call, at) =>
    `fail: Microsoft.AspNetCore.Server.Kestrel[13]\n      Connection id "0HN${hex(at, 8)}", Request id "0HN${hex(at, 8)}:0000000${at % 10}": An unhandled exception was thrown by the application.\n      System.InvalidOperationException: no stock\n         at Shop.Orders.${capital(call)}(Int32 id) in /src/Orders.cs:line ${at}\n      --- End of stack trace from previous location ---\n         at Microsoft.AspNetCore.Routing.EndpointMiddleware.<Invoke>g__AwaitRequestTask|7_0(Endpoint endpoint, Task requestTask, ILogger logger)`,
  PowerShell: (call, at) =>
    `no stock of ${at}\nAt C:\\shop\\orders.ps1:${at} char:5\n+     ${call}-Order -Id $id\n+     ~~~~~~~~~~~~~\n    + CategoryInfo          : OperationStopped: (no stock of ${at}:String) [], RuntimeException\n    + FullyQualifiedErrorId : no stock of ${at}`,
  Nim: (call, at) =>
    `Traceback (most recent call last)\n/srv/shop/web.nim(${at}) handle\n/srv/shop/orders.nim(${at}) ${call}\nError: unhandled exception: value out of range: ${at} [RangeDefect]`,
  Crystal: (call, at) =>
    `Unhandled exception: no stock (Shop::OutOfStock)\n  from src/orders.cr:${at}:3 in '${call}'\n  from src/web.cr:${at}:5 in 'handle'\n  from /usr/share/crystal/src/crystal/main.cr:129:5 in 'main'`,
  Zig: (call, at) =>
    `thread ${at}123 panic: no stock\n/src/orders.zig:${at}:5: 0x${hex(at, 7)} in ${call} (shop)\n    @panic("no stock");\n    ^\n/src/main.zig:${at}:20: 0x${hex(at, 7)} in main (shop)`,
  'a Dafny program': (call, at) =>
    `Exception in thread "main" java.lang.ArithmeticException: / by zero\n\tat Shop.__default.${capital(call)}(__default.java:${at})\n\tat Shop.__default.Main(__default.java:${at})`,
};

export const runtimePairs: readonly ErrorPair[] = Object.entries(texts).flatMap(([runtime, write]): ErrorPair[] => {
  const first = { body: write('reserve', 12) };
  return [
    { title: `${runtime}: one error`, isSame: true, records: [first, { body: write('reserve', 35) }] },
    { title: `${runtime}: two errors`, isSame: false, records: [first, { body: write('charge', 12) }] },
  ];
});
