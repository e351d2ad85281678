/**
 * Runs the build steps of the Dockerfile in an empty folder, and then its command like the image: as an unprivileged
 * user, over a read-only tree, without npm in the path. No container engine is needed.
 */
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, globSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import test from 'ava';
import { programOf } from '../services/definition.ts';
import { freePorts } from '../services/ports.ts';
import { eventually } from '../waiting.ts';

const run = promisify(execFile);
const root = fileURLToPath(new URL('../..', import.meta.url));
const workdir = '/opt/oiq';
const user = 1000;
const isRoot = process.getuid?.() === 0;

interface Instruction {
  readonly name: string;
  readonly text: string;
}

/** Instructions of the Dockerfile, by stage. */
const stages = (): Instruction[][] => {
  const lines = readFileSync(join(root, 'Dockerfile'), 'utf8')
    .replaceAll(/^#.*\n/gm, '')
    .replaceAll(/\\\n\s*/g, '')
    .split('\n')
    .filter((line) => line.trim() !== '');
  const found: Instruction[][] = [];
  for (const line of lines) {
    const [, name = '', text = ''] = /^([A-Z]+)\s+(.*)$/.exec(line) ?? [];
    if (name === 'FROM') found.push([]);
    else found.at(-1)?.push({ name, text });
  }
  return found;
};

const variablesOf = (instructions: readonly Instruction[]): Record<string, string> =>
  Object.fromEntries(
    instructions
      .filter(({ name }) => name === 'ENV')
      .flatMap(({ text }) => text.split(/\s+/).map((pair) => pair.split('=') as [string, string])),
  );

/** The files that `COPY . .` copies: tracked and new files that .dockerignore does not exclude. */
const contextFiles = async (): Promise<string[]> => {
  const left = readFileSync(join(root, '.dockerignore'), 'utf8').split('\n').filter(Boolean);
  const { stdout } = await run('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: root });
  return stdout
    .split('\n')
    .filter((file) => file !== '' && !left.some((name) => file === name || file.startsWith(`${name}/`)));
};

const asUser = (command: readonly string[]): readonly string[] =>
  isRoot ? ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups', ...command] : command;

const copy = async (text: string, image: string): Promise<void> => {
  const words = text.split(/\s+/);
  const files = words[0] === '.' ? await contextFiles() : words.slice(0, -1);
  for (const file of files) {
    mkdirSync(dirname(join(image, file)), { recursive: true });
    cpSync(join(root, file), join(image, file));
  }
};

interface Place {
  readonly image: string;
  readonly scratch: string;
  /** Replaces paths in the text of an instruction with those on this machine. */
  readonly here: (text: string) => string;
}

/** Runs the command of a RUN, with free addresses. */
const runStep = async (command: string, variables: Record<string, string>, unprivileged: boolean, place: Place) => {
  const [http, grpc, otlp] = await freePorts(3);
  const env = {
    ...process.env,
    PATH: `${dirname(process.execPath)}:${process.env['PATH']}`,
    ...Object.fromEntries(Object.entries(variables).map(([key, value]) => [key, place.here(value)])),
    OIQ_HTTP_ADDRESS: `127.0.0.1:${http}`,
    OIQ_OTLP_GRPC_ADDRESS: `127.0.0.1:${grpc}`,
    OIQ_OTLP_HTTP_ADDRESS: `127.0.0.1:${otlp}`,
  };
  // Only root can change the owner of a folder, and only root needs to.
  const own = isRoot ? command : command.replace(/ && chown .*$/, '');
  const [file = '', ...args] = [...(unprivileged ? asUser([]) : []), 'sh', '-ec', place.here(own)];
  await run(file, args, { cwd: place.image, env, maxBuffer: 64 * 1024 * 1024 });
};

const runSteps = async (steps: readonly Instruction[], place: Place): Promise<void> => {
  let unprivileged = false;
  for (const [index, { name, text }] of steps.entries()) {
    if (name === 'COPY') await copy(text, place.image);
    else if (name === 'RUN') await runStep(text, variablesOf(steps.slice(0, index)), unprivileged, place);
    else if (name === 'USER') {
      unprivileged = true;
      await run('chmod', ['1777', place.scratch]);
    }
  }
};

test('the image built by the Dockerfile runs unprivileged, on a read-only file system', async (t) => {
  if (programOf('npm') === undefined || programOf('git') === undefined) {
    const reason = 'npm or git is not in the path: nothing to build with';
    // In CI a skipped test is a failure.
    const isCi = !['', 'false'].includes(process.env['CI'] ?? '');
    return isCi ? t.fail(reason) : t.pass(reason);
  }
  const scratch = mkdtempSync(join(tmpdir(), 'oiq-image-'));
  t.teardown(async () => {
    await run('chmod', ['-R', 'u+w', scratch]);
    rmSync(scratch, { recursive: true, force: true });
  });
  await run('chmod', ['755', scratch]);
  const image = join(scratch, 'image');
  mkdirSync(image);
  const here = (text: string): string => text.replaceAll(workdir, image).replaceAll('/tmp/once', join(scratch, 'once'));
  const [build = [], final = []] = stages();

  await runSteps(build, { image, scratch, here });
  await run('chmod', ['-R', 'a-w,a+rX', image]);

  const sbom = JSON.parse(readFileSync(join(image, 'sbom.cdx.json'), 'utf8')) as { components: { name: string }[] };
  const names = sbom.components.map(({ name }) => name);
  const direct = Object.keys(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).dependencies);
  t.deepEqual(
    direct.filter((name) => !names.includes(name.replace(/^@[^/]+\//, '')) && !names.includes(name)),
    [],
    'the SBOM names every dependency',
  );
  t.deepEqual(globSync('node_modules/{ava,typescript,@biomejs,node-linux-*}', { cwd: image }), []);
  t.deepEqual(globSync('{test,charts}', { cwd: image }), []);

  // The variables of the image, with the addresses of this test.
  const variables = Object.fromEntries(Object.entries(variablesOf(final)).map(([key, value]) => [key, here(value)]));
  const data = join(scratch, 'volume');
  mkdirSync(data, { mode: 0o777 });
  await run('chmod', ['777', data]);
  const [http = 0, grpc = 0, otlp = 0] = await freePorts(3);
  const environment = {
    ...variables,
    PATH: dirname(process.execPath),
    HOME: '/nonexistent',
    OIQ_DATA_DIR: join(data, 'data'),
    OIQ_HTTP_ADDRESS: `127.0.0.1:${http}`,
    OIQ_OTLP_GRPC_ADDRESS: `127.0.0.1:${grpc}`,
    OIQ_OTLP_HTTP_ADDRESS: `127.0.0.1:${otlp}`,
    OIQ_BOOTSTRAP_PASSWORD: 'correct horse battery',
  };
  const entrypoint = JSON.parse(final.find(({ name }) => name === 'ENTRYPOINT')?.text ?? '[]') as string[];
  const entry = [process.execPath, ...entrypoint.slice(1)];
  const before = Math.max(...globSync('**/*', { cwd: image }).map((file) => statSync(join(image, file)).mtimeMs));
  const setpriv = programOf('setpriv') ?? 'setpriv';
  const command = (args: readonly string[]): [string, string[]] => {
    const [file = '', ...rest] = asUser([...entry, ...args]);
    return [file === 'setpriv' ? setpriv : file, rest];
  };
  const [file, args] = command(['start']);
  const started = spawn(file, args, { cwd: image, env: environment, stdio: ['ignore', 'pipe', 'pipe'] });
  t.teardown(() => void started.kill('SIGKILL'));
  let output = '';
  for (const stream of [started.stdout, started.stderr]) stream.on('data', (text) => (output += text));
  const isReady = async (): Promise<boolean> =>
    (await fetch(`http://127.0.0.1:${http}/readyz`).catch(() => undefined))?.status === 200;
  await eventually('it is ready or ended', async () => started.exitCode !== null || isReady());
  t.is(started.exitCode, null, output);
  const checked = await run(...command(['check', '--seconds', '600']), { cwd: image, env: environment });
  t.regex(checked.stdout, /returned it/);
  started.kill('SIGTERM');
  const [code] = await once(started, 'exit');
  t.is(code, 0, output);
  t.is(Math.max(...globSync('**/*', { cwd: image }).map((path) => statSync(join(image, path)).mtimeMs)), before);
  t.notRegex(output, /EACCES|EROFS|EPERM/);
});
