/**
 * `npm test`: lint, types, generated documents, then every suite, with the real services that this machine allows.
 * With CI set, every service must start and nothing may be skipped. Words choose the test files that have one of them in their
 * path, without the other checks.
 */
import { spawn } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { codeChecks } from './checks.ts';
import { computedSeconds, computingVariable, coresSpent, topFilesByCpu } from './cpu-times.ts';
import { type Duration, durationIn, slowest } from './durations.ts';
import { Reasons } from './error-messages.ts';
import { maxMinutes } from './file-order.ts';
import { compareWithDeclared, isWalk, pageRequestsVariable } from './page-requests.ts';
import { listCommits, runSeed, selectRunPart } from './parts.ts';
import { describeExcludedFiles, everySuite, filterFiles, listExcludedFiles } from './select-files.ts';
import { chartTools, chartToolsMissing } from './services/chart-tools.ts';
import { templateVariable } from './services/columns-template.ts';
import { serviceNames } from './services/definition.ts';
import { scratchDirectory } from './services/scratch.ts';
import { startServices, stopperOfStarted, unavailable } from './services/services.ts';
import { parseSkippedFile, startVariable } from './skip-late-files.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const inCi = (process.env['CI'] ?? '') !== '' && process.env['CI'] !== 'false';
const binary = (name: string): string => `${root}node_modules/.bin/${name}`;

/** Resolves when test files hang. */
const hung = Promise.withResolvers<void>();

let passed = 0;
let failed = 0;
const failures: string[] = [];
const reasons = new Reasons();
const durations: Duration[] = [];
/** Files that were skipped because they would have started too late. */
const skippedFiles: string[] = [];

/** Runs a program with this Node first in `PATH`; returns its exit code. Sends SIGINT when `interrupted` resolves. */
const run = (
  command: string,
  args: readonly string[],
  environment: NodeJS.ProcessEnv,
  onLine?: (line: string) => void,
  interrupted?: Promise<void>,
): Promise<number> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: ['ignore', onLine === undefined ? 'inherit' : 'pipe', 'inherit'],
      env: {
        ...environment,
        PATH: `${fileURLToPath(new URL('.', `file://${process.execPath}`))}:${process.env['PATH']}`,
      },
    });
    child.on('error', reject);
    void interrupted?.then(() => child.kill('SIGINT'));
    const lines = child.stdout === null ? undefined : createInterface({ input: child.stdout });
    if (onLine !== undefined) lines?.on('line', onLine);
    child.on('close', (code) => resolve(code ?? 1));
  });

const check = async (title: string, command: string, args: readonly string[]): Promise<void> => {
  const code = await run(command, args, process.env);
  if (code === 0) passed++;
  else {
    failed++;
    failures.push(title);
  }
  console.log(`${code === 0 ? 'ok' : 'NOT OK'} - ${title}`);
};

/**
 * Runs test files and counts the results in ava's default output. Ava's TAP reporter writes each error as YAML, and
 * stops without a message at an error that YAML cannot represent, so the failing test would have no name.
 */
const suites = async (files: readonly string[], environment: NodeJS.ProcessEnv): Promise<void> => {
  let skipped = 0;
  let counted = 0;
  // Two more than the cores of CI: many suites wait most of the time.
  const args = ['--no-color', '--concurrency=4', ...files];
  const onLine = (line: string): void => {
    console.log(line);
    const [, mark, title = ''] = /^ {2}(✔|✘|- \[(?:skip|todo)\]) (.*)$/.exec(line) ?? [];
    if (mark === undefined) reasons.read(line);
    else if (mark === '✔') {
      const duration = durationIn(title);
      const skippedFile = parseSkippedFile(duration.title);
      if (skippedFile === undefined) {
        passed++;
        durations.push(duration);
      } else skippedFiles.push(skippedFile);
    } else if (mark === '✘') {
      // Tests, and files that exited before their tests ended.
      failed++;
      counted++;
      const failure = title.replace(/^\[\w+\]: /, '');
      failures.push(failure);
      reasons.add(failure);
    } else {
      skipped++;
      if (inCi) failures.push(`skipped: ${title}`);
    }
  };
  const code = await run(binary('ava'), args, environment, onLine, hung.promise);
  if (inCi) failed += skipped;
  else if (skipped > 0) console.log(`# ${skipped} tests skipped: their service cannot run on this machine (see above)`);
  if (code !== 0 && counted === 0 && !(inCi && skipped > 0)) {
    failed++;
    failures.push(`ava ended with ${code}`);
  }
};

const words = process.argv.slice(2);
const isWhole = words.length === 0;
const files = globSync('test/**/*.test.ts', { cwd: root });
const findNamedFiles = (): string[] => {
  try {
    return filterFiles(words, files);
  } catch (error) {
    console.error((error as Error).message);
    process.exit(2);
  }
};
const excludedFiles = isWhole ? listExcludedFiles(files, selectRunPart) : [];
const selectedFiles = isWhole ? [...everySuite, ...excludedFiles.map((path) => `!${path}`)] : findNamedFiles();
if (!isWhole)
  console.log(`# ${selectedFiles.length} files of tests:\n${selectedFiles.map((path) => `#   ${path}`).join('\n')}`);
const startMs = Date.now();
const coresBefore = coresSpent();
// Suites find the shared servers by themselves. A whole run starts the servers before its first suite and stops them
// after the last.
const missing = serviceNames.filter((name) => unavailable(name) !== undefined);
const starting = isWhole
  ? startServices(inCi ? serviceNames : serviceNames.filter((name) => !missing.includes(name)))
  : stopperOfStarted();
// Helm is built from source, which takes longer than a suite may be silent.
const tools = isWhole && chartToolsMissing === undefined ? chartTools() : undefined;
for (const promise of [starting, tools]) promise?.catch(() => undefined);

/**
 * Runs lint, types and the check for unused code one after the other, beside the first suites, which wait most of the
 * time.
 */
const checkCode = async (): Promise<void> => {
  for (const { title, script } of codeChecks) await check(title, 'npm', ['run', '--silent', script]);
};
const checked = isWhole ? checkCode() : undefined;
checked?.catch(() => undefined);
if (isWhole) {
  for (const name of missing) console.log(`# ${unavailable(name)}; its suites are skipped`);
  if (chartToolsMissing !== undefined) console.log(`# ${chartToolsMissing}; its suites are skipped`);
}

const scratch = scratchDirectory();
const computing = join(scratch, 'computing');
const requestsFile = join(scratch, 'page-requests');
let topComputing: string[] = [];
let unreached: readonly string[] = [];
/**
 * Every request of the page must be declared in an API document. If all walks ran, every declared operation must have
 * been requested.
 */
const checkPageRequests = async (): Promise<void> => {
  const { built, declaredAs } = await import('./end-to-end/declared.ts');
  const compared = compareWithDeclared(readFileSync(requestsFile, 'utf8').split('\n').slice(0, -1), built, declaredAs);
  failed += compared.undeclared.length;
  failures.push(
    ...compared.undeclared.map((line) => `a walk requested an operation that no document declares: ${line}`),
  );
  const ran = isWhole
    ? files.filter((path) => !excludedFiles.includes(path) && !skippedFiles.includes(path))
    : selectedFiles;
  if (files.filter(isWalk).every((path) => ran.includes(path))) unreached = compared.unreached;
};
/**
 * Reports what a hanging run waits for. Ava's own timeout is not sufficient, because a test with a limit of an hour
 * extends it for all files. On SIGINT, ava lists the pending tests.
 */
const maxMinutesWithoutEnd = 25;
let endedBefore = '';
let endedAt = Date.now();
const progress = setInterval(() => {
  const ended = existsSync(computing) ? readFileSync(computing, 'utf8') : '';
  if (ended !== endedBefore) [endedBefore, endedAt] = [ended, Date.now()];
  const open = (isWhole ? files.filter((path) => !excludedFiles.includes(path)) : selectedFiles).filter(
    (path) => !ended.includes(`\t${path}\n`),
  );
  const minutes = Math.round((Date.now() - startMs) / 60_000);
  console.log(`# ${minutes} min: ${open.length} files have not ended${open.length > 8 ? '' : `: ${open.join(', ')}`}`);
  if (!isWhole || Date.now() - endedAt < maxMinutesWithoutEnd * 60_000) return;
  for (const path of open) failures.push(`${path} hangs: no file has ended for ${maxMinutesWithoutEnd} minutes`);
  failed += open.length;
  clearInterval(progress);
  hung.resolve();
}, 300_000);
const services = await starting;
try {
  await tools?.catch((error: Error) => failures.push(`the programs that check the chart: ${error.message}`));
  await suites(selectedFiles, {
    ...process.env,
    TEST_SEED: String(runSeed),
    TMPDIR: scratch,
    UV_THREADPOOL_SIZE: '16',
    ...(isWhole && { [startVariable]: String(startMs) }),
    [computingVariable]: computing,
    [pageRequestsVariable]: requestsFile,
    [templateVariable]: join(scratch, 'columns-template'),
    // Each test file is a process that loads much of the same code.
    NODE_COMPILE_CACHE: `${root}node_modules/.cache/node`,
  });
  await checked;
  if (existsSync(computing)) {
    const filesByCpu = topFilesByCpu(readFileSync(computing, 'utf8'), files.length);
    topComputing = filesByCpu.slice(0, 30);
    writeFileSync(`${root}node_modules/.cache/test-cpu.txt`, filesByCpu.join('\n'));
  }
  if (existsSync(requestsFile)) await checkPageRequests();
} finally {
  clearInterval(progress);
  await services.stop();
  rmSync(scratch, { recursive: true, force: true });
}
/** Prints lines below a heading, if there are any. */
const printSection = (title: string, lines: readonly string[]): void => {
  if (lines.length > 0) console.log(`\n${title}:\n${lines.map((line) => `  ${line}`).join('\n')}`);
};
printSection(`Skipped, because this machine takes longer than ${maxMinutes} minutes (TEST_MINUTES)`, skippedFiles);
printSection(
  `Excluded by the commit (TEST_SEED=${runSeed}), with the last commit that selected each; npm run test:all runs all`,
  describeExcludedFiles(excludedFiles, files, listCommits(200)),
);
printSection('Built operations that no walk of the page requested', unreached);
printSection('Files with the most CPU time', topComputing);
printSection('Slowest tests', slowest(durations, 30));
// Near the end, because readers often have only the last lines of a run.
printSection(
  'Failed',
  failures.map((failure) => reasons.describeFailure(failure)),
);
const cores = coresSpent();
const share = Math.round((100 * (cores.busyMs - coresBefore.busyMs)) / (cores.ms - coresBefore.ms));
console.log(
  `\n# ${Math.round((Date.now() - startMs) / 1000)} s, CPU ${Math.round(computedSeconds())} s, cores busy ${share} %`,
);
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
