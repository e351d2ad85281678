/**
 * The documentation works as written: every shell command of `docs/` and of the README runs against a standalone,
 * files are valid, programs parse. Blocks with the language `console` need other machines, so they do not run.
 */
import { spawn } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import test from 'ava';
import { transform } from 'esbuild';
import { parseAllDocuments } from 'yaml';
import { generateLicenseKey } from '../../schemas/license-key-format.ts';
import { type OiqProcess, owner, startOiq } from './oiq-process.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const pages = ['README.md', ...globSync('docs/**/*.md', { cwd: root }).toSorted()];
const licenseKey = generateLicenseKey();
const folder = mkdtempSync(join(tmpdir(), 'oiq-docs-'));
const dataDirectory = join(folder, 'data');

interface Block {
  readonly page: string;
  readonly line: number;
  /** `sh`, `console`, `yaml`, `json`, `js`, `text` or `promql` */
  readonly language: string;
  /** Words after the language; `fails` marks a command that must fail */
  readonly words: readonly string[];
  readonly code: string;
}

const readBlocks = (page: string): Block[] => {
  const text = readFileSync(join(root, page), 'utf8');
  return [...text.matchAll(/^( *)```(\S*)([^\n]*)\n([\s\S]*?)^\1```$/gm)].map(
    ({ index, 1: indent = '', 2: language = '', 3: words = '', 4: code = '' }) => ({
      page,
      line: text.slice(0, index).split('\n').length,
      language,
      words: words.trim().split(' '),
      code: code.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
    }),
  );
};
const blocks = pages.flatMap(readBlocks);
const place = ({ page, line }: Block): string => `${page}:${line}`;

let oiq: OiqProcess;
let token = '';
test.before(async () => {
  oiq = await startOiq({
    dataDirectory,
    environment: { OIQ_BOOTSTRAP_EMAIL: 'owner@localhost.localdomain', OIQ_BOOTSTRAP_LICENSE_KEY: licenseKey },
  });
  const response = await fetch(`${oiq.http}/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ email: 'owner@localhost.localdomain', password: owner.password }),
  });
  ({ token } = (await response.json()) as { token: string });
  // Commands run in their own folder, in which the paths of the documentation exist.
  for (const name of ['bin', 'main.ts', 'package.json', 'node_modules'])
    symlinkSync(join(root, name), join(folder, name));
  writeFileSync(join(folder, '.curlrc'), 'fail-with-body\nmax-time = 60\n');
});
test.after.always(async () => {
  await oiq.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** One script of a page: each block is numbered by its line, and a failed command is printed with it. */
const createScript = (shellBlocks: readonly Block[]): string =>
  [
    'set -uE -o pipefail',
    'trap \'echo "FAILED at line $BLOCK: $BASH_COMMAND" >&2\' ERR',
    ...shellBlocks.map(({ line, words, code }) =>
      words.includes('fails')
        ? `BLOCK=${line}\nif { ${code}\n}; then echo "FAILED at line ${line}: it was to fail" >&2; fi`
        : `BLOCK=${line}\n${code}`,
    ),
    'true',
  ].join('\n');

const runScript = (script: string): Promise<{ readonly output: string; readonly errors: string }> =>
  new Promise((resolve) => {
    const child = spawn('bash', ['-c', script], {
      cwd: folder,
      env: {
        PATH: `${join(process.execPath, '..')}:${process.env['PATH']}`,
        HOME: folder,
        CURL_HOME: folder,
        OIQ_DATA_DIR: dataDirectory,
        KEY: licenseKey,
        PASSWORD: owner.password,
        TOKEN: token,
      },
    });
    let output = '';
    let errors = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      errors += text;
    });
    child.on('close', () => resolve({ output, errors }));
  });

for (const page of pages) {
  const shellBlocks = blocks.filter((block) => block.page === page && block.language === 'sh');
  if (shellBlocks.length > 0)
    test(`commands of ${page} succeed`, async (t) => {
      const script = createScript(shellBlocks)
        .replaceAll('localhost:8080', oiq.http.slice('http://'.length))
        .replaceAll('localhost:4318', oiq.otlp.slice('http://'.length));
      const { output, errors } = await runScript(script);
      t.notRegex(errors, /FAILED|command not found/, `${errors}\n${output.slice(-2000)}`);
    });
}

test('each block of code names a known language', (t) => {
  const known = ['sh', 'console', 'yaml', 'json', 'js', 'text', 'promql'];
  t.deepEqual(blocks.filter(({ language }) => !known.includes(language)).map(place), []);
});

const parsers: Readonly<Record<string, (code: string) => unknown>> = {
  json: (code) => JSON.parse(code),
  js: (code) => transform(code, { loader: 'js' }),
  yaml: (code) => {
    for (const { errors } of parseAllDocuments(code)) if (errors[0] !== undefined) throw errors[0];
  },
};

test('YAML, JSON and JavaScript of the documentation are valid', async (t) => {
  const faults: string[] = [];
  for (const block of blocks)
    try {
      await parsers[block.language]?.(block.code);
    } catch (error) {
      faults.push(`${place(block)}: ${(error as Error).message}`);
    }
  t.deepEqual(faults, []);
});

test('commands of `oiq` and of npm in the documentation exist', async (t) => {
  const { output } = await runScript('node bin/oiq.mjs help');
  const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: object };
  const known = new Set(
    [...output.matchAll(/^ {2}oiq (.*?)(?: {2,}|$)/gm)].flatMap(
      ([, usage = '']) => usage.match(/\b[a-z][a-z-]+/g) ?? [],
    ),
  );
  const missing = blocks
    .filter(({ language }) => language === 'sh' || language === 'console')
    .flatMap((block) => [
      ...[...block.code.matchAll(/(?:node bin\/oiq\.mjs|node main\.ts) ([a-z-]+)/g)]
        .filter(([, name = '']) => !known.has(name) && name !== 'help')
        .map(([command]) => `${place(block)}: ${command}`),
      ...[...block.code.matchAll(/npm (?:run )?(start|test|demo|[a-z:]+)/g)]
        .filter(([command, name = '']) => command.includes(' run ') && !(name in scripts))
        .map(([command]) => `${place(block)}: ${command}`),
    ]);
  t.deepEqual(missing, []);
});
