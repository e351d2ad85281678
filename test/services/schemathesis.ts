/** Schemathesis from PyPI in a virtual environment, installed once beside the npm packages. */
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const version = '4.32.5';
const cache = fileURLToPath(new URL('../../node_modules/.cache', import.meta.url));
const home = join(cache, `schemathesis-${version}`);

/** Why Schemathesis cannot be installed on this machine; undefined if it can. */
export const schemathesisMissing =
  spawnSync('python3', ['-c', 'import ensurepip, venv']).status === 0
    ? undefined
    : 'Schemathesis cannot be installed here: python3 with venv is needed';

interface Ran {
  readonly code: number | null;
  readonly output: string;
}

const run = (command: string, args: readonly string[], cwd: string, env = process.env): Promise<Ran> => {
  const { promise, resolve, reject } = Promise.withResolvers<Ran>();
  const child = spawn(command, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text) => (output += text));
  child.on('error', reject);
  child.on('close', (code) => {
    process.off('exit', end);
    resolve({ code, output });
  });
  return promise;
};

/** Installs into a temporary directory that is renamed to `home` when it is complete. */
const install = async (): Promise<void> => {
  if (existsSync(home)) return;
  const created = `${home}.${process.pid}`;
  for (const [command, ...args] of [
    ['python3', '-m', 'venv', '--copies', created],
    [
      join(created, 'bin', 'python3'),
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      `schemathesis==${version}`,
    ],
  ] as const) {
    const { code, output } = await run(command, args, '/');
    if (code !== 0) throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${output}`);
  }
  if (existsSync(home)) rmSync(created, { recursive: true, force: true });
  else renameSync(created, home);
};

/**
 * Hooks: read all documents of a YAML response, because Schemathesis 4.32 reads one and its thread ends if there are
 * several; exit if a thread ends; and select a part of the boundary cases.
 */
const hooks = `import collections, os, random, schemathesis, sys, threading, traceback, yaml

worked_out = collections.Counter()
most = float(os.environ["DRAWN_CASES"])
drawing = random.Random(os.environ["DRAWN_BY"])

# Where a body holds a query there are 12,000 cases, most of which differ by one field deep within: the more there are, the fewer of them are drawn.
@schemathesis.hook
def filter_case(context, case):
    if case.meta is None or case.meta.phase.name.value != "coverage":
        return True
    worked_out[case.operation.label] += 1
    return drawing.random() * worked_out[case.operation.label] < most

# A thread that ends by an error leaves all operations that it has not asked yet, and nothing fails.
def tell(args):
    traceback.print_exception(args.exc_type, args.exc_value, args.exc_traceback)
    sys.stderr.flush()
    os._exit(70)

threading.excepthook = tell

@schemathesis.deserializer("text/yaml", "text/x-yaml", "application/x-yaml", "text/vnd.yaml", "application/yaml")
def deserialize_yaml(context, response):
    text = response.content.decode("utf-8")
    try:
        documents = list(yaml.safe_load_all(text))
    except (yaml.YAMLError, ValueError):
        # Rules are answered as people wrote them, and YAML 1.1 has no 31st of February.
        return text
    return documents[0] if len(documents) == 1 else documents
`;

export interface SchemathesisDraw {
  /** The number of boundary cases of an operation up to which all are sent. */
  readonly cases: number;
  readonly by: number;
}

/** Runs `st run` with arguments, in a directory for its files. */
export const runSchemathesis = async (
  args: readonly string[],
  directory: string,
  draw: SchemathesisDraw,
): Promise<Ran> => {
  await install();
  writeFileSync(join(directory, 'oiq_hooks.py'), hooks);
  return run(join(home, 'bin', 'python3'), ['-m', 'schemathesis.cli', 'run', ...args], directory, {
    ...process.env,
    SCHEMATHESIS_HOOKS: 'oiq_hooks',
    PYTHONPATH: directory,
    DRAWN_CASES: String(draw.cases),
    DRAWN_BY: String(draw.by),
  });
};
