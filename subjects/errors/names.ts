/** Compared part of a frame, by language */

import { getTextBefore, trimTrailing } from '../../schemas/text.ts';
import { type FrameName, getPathEnd, type Language, type Line, splitPath } from './frame.ts';

const maxNameLength = 200;
const createFrameName = (module: string, name: string, isInApp: boolean, isGlue = false): FrameName => ({
  module: module.slice(-maxNameLength),
  function: name.slice(-maxNameLength),
  isInApp,
  isGlue,
});

const getTextAfterLast = (text: string, separator: string): string => text.slice(text.lastIndexOf(separator) + 1);

/** Returns a text without type parameters. The search ends at the last closing bracket. */
const removeBrackets = (text: string): string => {
  const end = text.lastIndexOf(']') + 1;
  return text.slice(0, end).replace(/\[[^\]]*\]/g, '') + text.slice(end);
};

/** Returns the part of a path after a directory: `requests/api.py` of `…/site-packages/requests/api.py`. */
const getPathAfterFolder = (path: string, folder: string): string | undefined => {
  const at = path.lastIndexOf(folder);
  return at < 0 ? undefined : path.slice(at + folder.length);
};

const anonymousNames = new Set(
  '? <anonymous> anonymous eval {anonymous} (anonymous) <unknown> Object.<anonymous>'.split(' '),
);
const codePattern = /^(?:anonymous function|(?:global|eval|module) code)$/i;

/**
 * Normalizes function names, which differ by browser: `Object.save`, `Cart.prototype.save`, `save`, `cart/save`, `new
 * Cart`, `async save`.
 */
const normalizeJavaScriptFunction = (rawName: string, isBundle: boolean): string => {
  let name = rawName.replace(/^(?:async |new |get |set |bound )+/, '').replace(/ \[as [^[\]]*\]$/, '');
  // Firefox prefixes the caller and a star, and appends < to a function without a name.
  name = getTextAfterLast(name, '*');
  if (anonymousNames.has(name) || codePattern.test(name) || name.endsWith('<') || name.includes('./')) return '';
  name = getTextAfterLast(getTextAfterLast(name, '/'), '.').replace(/\$\d{1,9}$/, '');
  // Minifiers rename functions in each build.
  return anonymousNames.has(name) || name === '<anonymous>' || (isBundle && name.length <= 2) ? '' : name;
};

const createJavaScriptName = ({ function: name, file }: Line): FrameName => {
  const isWeb = /^https?:\/\//.test(file) || /\.html?(?:[?#]|$)/.test(file);
  const isGlue = /^(?:\[?native(?: code)?\]?|<anonymous>|<eval>|eval code|index \d+|)$| > (?:eval|Function)/.test(file);
  const isLibrary =
    /^node:|[/\\]node_modules[/\\]|^internal\/|^(?:chrome|moz|safari-web|safari)-extension:|[/\\]webpack\/(?:bootstrap|runtime)|^https?:\/\/(?:unpkg\.com|cdn\.jsdelivr\.net|cdnjs\.cloudflare\.com|ajax\.googleapis\.com|code\.jquery\.com)\//.test(
      file,
    );
  // The content of data URLs and the ids of blobs differ between builds and loads.
  const scheme = /^(?:data:[\w.+/-]{0,80}|blob:)/.exec(file);
  if (scheme !== null) return createFrameName(scheme[0], normalizeJavaScriptFunction(name, true), true);
  const module =
    getPathAfterFolder(file, 'node_modules/') ?? (file.startsWith('node:') ? file : getPathEnd(file, isWeb ? 1 : 2));
  return createFrameName(module, normalizeJavaScriptFunction(name, isWeb), !isLibrary && !isGlue, isGlue);
};

const createPythonName = ({ function: name, file }: Line): FrameName => {
  if (/^<(?:cell|ipython-input)|[/\\]ipykernel_\d/.test(file))
    return createFrameName('<cell>', /^<(?!module)/.test(name) ? '' : name, true);
  const library = getPathAfterFolder(file, 'site-packages/') ?? getPathAfterFolder(file, 'dist-packages/');
  const isInApp =
    library === undefined && !/^<|\/lib\/python\d|[/\\][Ll]ib[/\\](?:asyncio|concurrent|threading)/.test(file);
  const isGlue =
    /^<(?:frozen|string|listcomp|dictcomp|setcomp|genexpr)/.test(file) ||
    /^<(?:list|dict|set)comp>|^<genexpr>/.test(name);
  return createFrameName(library ?? getPathEnd(file, 2), name === '<lambda>' ? '' : name, isInApp && !isGlue, isGlue);
};

const javaLibraries =
  /^(?:java|javax|jakarta|jdk|sun|com\.sun|kotlin|kotlinx|scala|groovy|clojure|android|androidx|dalvik|com\.android|org\.(?:springframework|apache|hibernate|jboss|wildfly|eclipse|junit|slf4j|postgresql|mockito|codehaus|glassfish|mongodb|jetbrains|aspectj)|io\.(?:netty|undertow|vertx|micronaut|quarkus|reactivex|grpc|opentelemetry|lettuce|projectreactor|micrometer|smallrye)|com\.(?:fasterxml|google|mysql|zaxxer|mongodb|microsoft|oracle|amazonaws|squareup|netflix|github\.benmanes)|ch\.qos|software\.amazon|redis\.clients|reactor|rx|akka|okhttp3|okio|retrofit2|feign|play)\./;
const javaGlue =
  /^(?:(?:jdk\.internal|sun)\.reflect\.|java\.lang\.reflect\.|java\.lang\.invoke\.)|GeneratedMethodAccessor|GeneratedConstructorAccessor|\$Proxy\d|\$\$FastClass|\$\$(?:Enhancer|SpringCGLIB|_javassist)|_\$\$_|\$HibernateProxy|\$MockitoMock/;

/** Numbers of anonymous classes, and of what Clojure and Groovy generate: `fn__12`, `eval12`, `Script1`, `_closure1` */
const generatedNumber =
  /(\$|__auto__|(?<=[A-Za-z])(?=__\d)|\beval(?=\d)|^Script(?=\d)|_(?:closure|lambda)(?=\d))_*\d+/g;

/** Omits the numbers of lambdas, anonymous classes and generated classes. */
const java = ({ function: method, file }: Line): FrameName => {
  // The address of a hidden class follows a slash, as its module does.
  const type = getTextAfterLast(getTextBefore(file, '$$Lambda').replace(/\/0x[0-9a-f]{1,16}$/, ''), '/');
  const isGlue = javaGlue.test(type) || method.startsWith('access$');
  const module = trimTrailing(
    getTextBefore(getTextBefore(type, '$$'), '$ByteBuddy$').replace(generatedNumber, '$1'),
    '$',
  );
  // Scala 3 writes the method before the lambda, Scala 2 after it.
  const lambda = /^(?:lambda\$([^$]*)\$|([^$]+)\$\$anonfun\$)/.exec(method) ?? /\$anonfun\$([^$]*)/.exec(method);
  const name = (lambda?.[1] ?? lambda?.[2] ?? method).replace(/\$(?:default|suspendImpl|\d+)$/, '');
  const isInApp = !javaLibraries.test(type) && !isGlue;
  // The class of a coroutine contains the name of its function: `OrdersKt$reserve$1`.
  const at = name === 'invokeSuspend' ? module.lastIndexOf('$') : -1;
  if (at > 0) return createFrameName(trimTrailing(module.slice(0, at), '$'), module.slice(at + 1), isInApp, isGlue);
  return createFrameName(module, name, isInApp, isGlue);
};

const dotnetLibraries =
  /^(?:System|Microsoft|Newtonsoft|NHibernate|Npgsql|MySql|Serilog|Grpc|Polly|MassTransit|MediatR|AutoMapper|Autofac|Dapper|Castle|Xunit|NUnit|OpenTelemetry|StackExchange|Amazon|Azure|Swashbuckle)\./;
const dotnetGlue =
  /^System\.(?:Runtime\.(?:ExceptionServices|CompilerServices)|Threading\.(?:Tasks|ExecutionContext|ThreadPoolWorkQueue)|RuntimeMethodHandle|Reflection)\.|^(?:lambda_method|ThrowHelper)/;

const dotnet = ({ function: call }: Line): FrameName => {
  const cleanName = removeBrackets(call)
    .replace(/`\d+/g, '')
    .replace(/^lambda_method\d+/, 'lambda_method');
  // Compiler-generated names of async methods, iterators and lambdas contain the name of the method.
  const userMethod = /<(\w+)>[a-z]__/.exec(cleanName);
  const generatedIndex = cleanName.search(/\.<|\+<|\.MoveNext$/);
  const path =
    userMethod === null || generatedIndex < 0 ? cleanName : `${cleanName.slice(0, generatedIndex)}.${userMethod[1]}`;
  const dot = path.lastIndexOf('.');
  return createFrameName(
    path.slice(0, Math.max(0, dot)).replaceAll('+', '.'),
    path.slice(dot + 1),
    !dotnetLibraries.test(path),
    dotnetGlue.test(path) || /\.Throw(?:IfNull|ForNonSuccess|If\w+)?$/.test(path),
  );
};

const goStandard =
  /^(?:archive|bufio|bytes|cmp|compress|container|context|crypto|database|debug|embed|encoding|errors|expvar|flag|fmt|hash|html|image|internal|io|iter|log|maps|math|mime|net|os|path|plugin|reflect|regexp|runtime|slices|sort|strconv|strings|sync|syscall|testing|text|time|unicode|unsafe)(?:\/|\.|$)/;

const go = ({ function: call, file }: Line): FrameName => {
  const cleanName = removeBrackets(call)
    .replace(/-fm$/, '')
    .replace(/-range\d+$/, '')
    .replace(/\.func\d[\d.]*(?:-range\d+)?(?:\.(?:gowrap|deferwrap)\d+)?$/, '.func');
  const slash = cleanName.lastIndexOf('/');
  const dot = cleanName.indexOf('.', slash + 1);
  const module = (dot < 0 ? '' : cleanName.slice(0, dot)).replace(/@v[^/]*/g, '');
  const isLibrary = /\/pkg\/mod\/|@v\d|\/vendor\/|\/go[\d.]*\/src\//.test(file) || goStandard.test(cleanName);
  const isGlue =
    /^(?:panic|runtime\.(?:gopanic|goexit|main|panic\w+|goPanic\w+|sigpanic|throw|fatal\w*)|runtime\/debug\.(?:Stack|PrintStack))$/.test(
      cleanName,
    ) ||
    cleanName.startsWith('created by ') ||
    /\/otel\/sdk\/trace\./.test(cleanName);
  return createFrameName(module, dot < 0 ? cleanName : cleanName.slice(dot + 1), !isLibrary && !isGlue, isGlue);
};

const ruby = ({ function: rawName, file }: Line): FrameName => {
  const method = rawName.replace(/^(?:(?:block|rescue|ensure)(?: \(\d+ levels\))? in )+/, '').replace(/__\d+_\d+$/, '');
  const isLibrary = /\/gems\/|\/ruby\/\d|^<internal:|\/bundler\/|\/rubygems\//.test(file);
  const module = getPathAfterFolder(file, '/gems/')?.replace(/^([\w-]+?)-\d[\w.]*\//, '$1/') ?? getPathEnd(file, 2);
  return createFrameName(
    module,
    getTextAfterLast(getTextAfterLast(method, '#'), '.'),
    !isLibrary,
    file.startsWith('<internal:'),
  );
};

const php = ({ function: call, file }: Line): FrameName => {
  const name = /\{closure/.test(call) ? '' : call.replace(/->|::/g, '.');
  const isGlue = file === '[internal function]' || file === '';
  return createFrameName(
    isGlue ? '' : getPathEnd(file, 2),
    getTextAfterLast(getTextAfterLast(name, '.'), '\\'),
    !isGlue && !file.includes('/vendor/'),
    isGlue,
  );
};

const rustGlue =
  /^(?:rust_begin_unwind|rust_panic|__rust|core::(?:panicking|ops::function|result::unwrap_failed|option::(?:unwrap|expect)_failed)|std::(?:panicking|panic|rt|sys|sys_common|backtrace)|backtrace::|anyhow::|eyre::|main$|_start|__libc|start_thread|clone)/;
const rustLibraries =
  /^(?:std|core|alloc|tokio|hyper|futures|axum|tower|actix|rocket|tracing|opentelemetry|serde|sqlx|tonic|rayon)(?:_\w+)?::/;

const rust = ({ function: path, file }: Line): FrameName => {
  const cleanName = path
    .replace(/::h[0-9a-f]{16}$/, '')
    .replace(/(?:::\{\{?closure(?:#\d+)?\}?\})+/g, '')
    .replace(/^<([^<> ]+)(?: as [^<>]*)?>/, '$1')
    .replace(/::<[^<>]*>/g, '');
  const isLibrary = /\/rustc\/|[/\\]\.cargo[/\\]/.test(file) || rustLibraries.test(cleanName);
  const at = cleanName.lastIndexOf('::');
  const isGlue = rustGlue.test(cleanName);
  return createFrameName(
    at < 0 ? '' : cleanName.slice(0, at),
    at < 0 ? cleanName : cleanName.slice(at + 2),
    !isLibrary && !isGlue,
    isGlue,
  );
};

const dart = ({ function: name, file }: Line): FrameName =>
  createFrameName(
    file.startsWith('file:') ? getPathEnd(file, 2) : file,
    name.replace(/\.?<anonymous closure>/g, '').replace(/<async>|_(?:async|rootRun)\w*$/, ''),
    !/^(?:dart:|package:flutter\/)/.test(file),
    file.startsWith('dart:async'),
  );

const nativeGlue =
  /^(?:\?\?|raise|abort|gsignal|_start|__libc_start\w*|__cxa_\w+|std::terminate|start_thread|clone3?|__pthread\w*|__GI_\w+|__assert\w*|backtrace)$/;

const native = ({ function: call, file }: Line): FrameName => {
  const name = getTextBefore(call, '(')
    .replace(/<[^<>]*>/g, '')
    .trim();
  const isLibrary = /^\/(?:usr|lib|lib64)\/|(?:^|\/)lib[\w+-]+\.so|libstdc|libc\./.test(file) || /^std::/.test(name);
  const segments = splitPath(file);
  return createFrameName(
    segments.at(-1)?.replace(/\.so[\d.]*$/, '.so') ?? '',
    name,
    !isLibrary,
    nativeGlue.test(name) || name === '',
  );
};

const other = ({ function: name, file }: Line): FrameName =>
  createFrameName(getPathEnd(file, 2), name.replace(/\d+/g, '0'), !/^\/usr\/|[/\\]deps[/\\]/.test(file));

const namersByLanguage: Readonly<Record<Language, (line: Line) => FrameName>> = {
  dart,
  dotnet,
  go,
  java,
  javascript: createJavaScriptName,
  native,
  other,
  php,
  python: createPythonName,
  ruby,
  rust,
};

/** Returns the compared part of a frame. */
export const frameName = (line: Line): FrameName => namersByLanguage[line.language](line);
